"""What a fuzz case does, and what may come out of it: a sensible answer, or a refusal in a sentence."""

import dis
import inspect
import json
import pickle
import re
import traceback
import warnings
import zlib
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
from fuzz_functions import draw_arguments, functions
from fuzz_parameters import draw_classifier, draw_parameters, draw_selector, junk_for
from fuzz_tables import chance, draw_quantity, draw_sketch, draw_target, draw_variant, draw_weights, pick
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import NotFittedError

import foresift
from foresift.data.numeric_coding import NumericCoder
from foresift.evaluation.select import assess

# Texts of NumPy, Python and C++ that tell a user nothing.
INTERNAL = re.compile(
    r"out of bounds|out of range|cannot reshape|could not be broadcast|std::|bad_alloc|unhashable"
    r"|has no attribute|incompatible function arguments|nanobind|not supported between instances|has no len"
    r"|object is not (iterable|callable|subscriptable)|unsupported operand|ufunc|unexpected keyword"
    r"|positional argument|zero-size array|too large to convert|cannot convert float|truth value of"
    r"|only integer scalar|only length-1|Cannot interpret|boolean index|must be real number|surrogates not"
    r"|did not contain a loop|Cannot cast|array is too big|Maximum allowed|Exceeds the limit|ambiguous"
)
# Of scikit-learn's own checks of X, y and weights these are taken as they are.
OF_SKLEARN = re.compile(
    r"Expected 2D array|Found array with|Complex data|could not convert string|Found input variables"
    r"|should be a 1d|inhomogeneous shape|Expected a .*D |Input \w+ contains|Unknown label type"
)
CHANGED = "answers changed after a failed refit"
GOOD_X = np.random.default_rng(0).normal(size=(40, 4)).round(1)
GOOD_Y = (GOOD_X[:, 0] + GOOD_X[:, 1] > 0).astype(int)
NARROW = (
    "SequentialSelector",
    "ContributionSelector",
    "compare",
    "select",
)  # which take long with many columns


class Failed:
    """Stands for the answer of a call that was refused."""


class Case:
    """One case: its random numbers, what it did and what was found."""

    def __init__(self, name, number):
        self.name, self.number = name, number
        self.rng = np.random.default_rng([zlib.crc32(name.encode()), number])
        self.findings, self.story = [], []

    def note(self, text):
        self.story.append(str(text)[:2000])

    def find(self, step, kind, text, where="", trace=""):
        about = {
            "name": self.name,
            "number": self.number,
            "step": step,
            "kind": kind,
            "text": str(text)[:1500],
        }
        self.findings.append(about | {"where": where, "trace": trace})

    def attempt(self, step, call, *, fitted=True, allowed=(ValueError, TypeError)):
        """Make a call; return its answer, or Failed if there was an exception, which is judged."""
        loud = []
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, kind, *rest: _hear(loud, message, kind)
            try:
                return call()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # polars panics with one
                self.judge(step, error, fitted, allowed)
                return Failed
            finally:
                for text, where, trace in loud:
                    self.find(step, "RuntimeWarning", text, where, trace)

    def judge(self, step, error, fitted, allowed):
        trace = "".join(traceback.format_exception(error, limit=-12))[-4000:]
        where, origin = _origin(error)
        self.note(f"{step}: {type(error).__name__}: {error}")
        if isinstance(error, NotFittedError):
            if fitted:
                self.find(step, "NotFittedError though fitted", error, where, trace)
        elif not isinstance(error, allowed) or (
            isinstance(error, UnicodeError) and UnicodeError not in allowed
        ):
            self.find(step, type(error).__name__, error, where, trace)
        elif not isinstance(error, UnicodeError) and (fault := _fault(str(error), origin)) is not None:
            self.find(step, f"{type(error).__name__} that is {fault}", error, where, trace)

    def expect(self, step, true, text):
        if not true:
            self.find(step, "wrong answer", text)


def _hear(loud, message, kind):
    """Write a RuntimeWarning down unless another library called for what it warns of."""
    if not issubclass(kind, RuntimeWarning):
        return
    frames = traceback.extract_stack()[:-2]
    for frame in reversed(frames):
        if "/foresift/" in frame.filename:
            place = frame.filename.split("/foresift/")[-1]
            loud.append((str(message), f"{place}:{frame.name}", "".join(traceback.format_list(frames[-8:]))))
            return
        if re.search(r"/(sklearn|pandas|polars|pyarrow|narwhals|joblib)/|fuzz_", frame.filename):
            return


def _origin(error):
    """Return the innermost place in foresift, and who raised: foresift, native code, sklearn or others."""
    where, last, behind = "", None, []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        last = frame
        behind.append(frame.f_code.co_filename)
        if "/foresift/" in frame.f_code.co_filename:
            where, behind = f"{frame.f_code.co_filename.split('/foresift/')[-1]}:{frame.f_code.co_name}", []
    if type(error.__cause__).__name__ == "_RemoteTraceback":  # of a process that joblib started
        behind = re.findall(r'File "([^"]+)"', str(error.__cause__))
        behind = behind[1 + max((j for j, file in enumerate(behind) if "/foresift/" in file), default=-1) :]
    if any(re.search(r"/sklearn/(?!utils/|base|feature_selection/)", file) for file in behind):
        return where, "theirs"  # another library's estimator does not like what it is given
    end = error.__traceback__
    while end.tb_next is not None:
        end = end.tb_next
    file = last.f_code.co_filename
    if any("/sklearn/" in file for file in behind):
        return where, "sklearn"
    if "/foresift/" not in file:
        return where, "others"
    names = {step.offset: step.opname for step in dis.get_instructions(last.f_code)}
    return where, "foresift" if names.get(end.tb_lasti) in ("RAISE_VARARGS", "RERAISE") else "native"


def _fault(text, origin):
    """Say what is wrong with a message, None if nothing is."""
    if not text.strip():
        return "without a word"
    if origin == "theirs":
        return None
    if origin == "sklearn":
        return None if OF_SKLEARN.search(text) or not INTERNAL.search(text) else "internal"
    if text == "n_jobs == 0 in Parallel has no meaning":  # joblib's
        return None
    if "'NoneType' object" in text or INTERNAL.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", text)):
        return "internal"
    if len(text.split()) < 3 or not re.search(r"[.!?]\)?(\s|$)", text):
        return "no sentence"
    return None


def names():
    """Everything that is fuzzed: public estimators, `select`, `compare`, and functions of public modules."""
    public = [name for name in foresift.__all__ if _is_estimator(getattr(foresift, name))]
    return [*public, "NumericCoder", "select", "compare", *functions()]


def _is_estimator(item):
    return isinstance(item, type) and issubclass(item, BaseEstimator) and hasattr(item, "fit")


def run_case(name, number):
    """Run one case; return it with its findings."""
    case = Case(name, number)
    np.random.seed(number % 2**32)  # noqa: NPY002 - what scikit-learn takes where it is told nothing
    if name in functions():
        run_function(case)
    elif name == "select":
        run_select(case)
    elif name == "compare":
        run_compare(case)
    else:
        run_estimator(case, NumericCoder if name == "NumericCoder" else getattr(foresift, name))
    return case


def draw_data(case, hostile=0.25):
    """Draw a table, its classes and weights; None where the container itself does not take the columns."""
    sketch = draw_sketch(case.rng, hostile=hostile)
    if case.name in NARROW:
        n = min(sketch.n_rows, 60)
        columns = tuple(column[:n] for column in sketch.columns[:7])
        sketch = replace(sketch, columns=columns, names=sketch.names[:7], n_rows=n)
    y, weights = draw_target(case.rng, sketch, hostile=hostile), draw_weights(case.rng, sketch.n_rows)
    if case.name.endswith("Regressor") and chance(case.rng, 0.6):
        y = draw_quantity(case.rng, sketch.n_rows)
    case.note(f"X: {sketch.about}\ny: {type(y).__name__} {y!r:.300}\nsample_weight: {weights!r:.200}")
    return sketch, _make(case, sketch), y, weights


def _make(case, sketch):
    state = case.rng.bit_generator.state  # a container that fails must not change what is drawn after it
    try:
        return sketch.made(case.rng)
    except (Exception, pl.exceptions.PanicException) as error:  # the library would not have it
        case.note(f"no such table: {type(error).__name__} {error}")
        case.rng.bit_generator.state = state
        return [[]]


def run_estimator(case, kind):
    rng = case.rng
    sketch, X, y, weights = draw_data(case)
    parameters = draw_parameters(rng, kind, sketch)
    case.note(f"{kind.__name__}(**{parameters!r})")
    model = kind(**parameters)
    case.attempt("repr", lambda: repr(model))
    before = None
    if (
        chance(rng, 0.5)
        and case.attempt("fit to a plain table", lambda: model.fit(GOOD_X, GOOD_Y)) is not Failed
    ):
        before = case.attempt("answer", lambda: answer(model, GOOD_X))
    options = {"sample_weight": weights} if "sample_weight" in inspect.signature(kind.fit).parameters else {}
    if case.attempt("fit", lambda: model.fit(X, y, **options)) is Failed:
        check_after_failure(case, model, before)
    else:
        check_model(case, model, sketch, X, y, options)
    check_parameters(case, model)


def check_after_failure(case, model, before):
    """After a failed fit the model is what it was before: not fitted, or fitted to the plain table."""
    if before is not None and before is not Failed:
        after = case.attempt("answer after a failed refit", lambda: answer(model, GOOD_X))
        case.expect("failed refit", after is not Failed and same(before, after), CHANGED)
        return
    for method in ("predict", "predict_proba", "transform", "inverse_transform", "get_support", "apply"):
        if hasattr(type(model), method):
            step = f"{method} after a failed fit"
            arguments = () if method == "get_support" else (GOOD_X,)
            done = case.attempt(step, lambda m=method, a=arguments: getattr(model, m)(*a), fitted=False)
            case.expect(step, done is Failed, "an answer though no fit succeeded")


def answer(model, X):
    """Everything that a fitted model says of rows, or of columns."""
    said = [
        getattr(model, name)
        for name in ("scores_", "ranking_", "support_", "classes_")
        if name in vars(model)
    ]
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(type(model), method):
            said.append(getattr(model, method)(X))
    return said


def same(one, other):
    if sparse.issparse(one):
        one, other = one.toarray(), other.toarray()
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    if one.dtype.kind in "fc":
        return np.array_equal(one, other, equal_nan=True)
    return list(map(repr, one.ravel().tolist())) == list(map(repr, other.ravel().tolist()))


def check_model(case, model, sketch, X, y, options):
    rng = case.rng
    if hasattr(model, "__next__") or inspect.isgenerator(X) or inspect.isgenerator(y):
        return
    case.note("fitted")
    check_answers(case, model, X, "X itself")
    told = case.attempt("answer", lambda: answer(model, X))
    if told is Failed:
        case.find("answer", "wrong answer", "no answer for the table that was fitted")
    else:
        check_copies(case, model, X, y, options, told)
    for _ in range(2):
        how, variant = draw_variant(rng, sketch)
        Z = _make(case, variant)
        case.note(f"variant: {variant.about}")
        check_answers(case, model, Z, how)
        if is_classifier(model):
            score = case.attempt(f"score, {how}", lambda Z=Z: model.score(Z, y, **options))
            good = score is Failed or 0 <= score <= 1 + 1e-12 or _sum_is_infinite(**options)
            case.expect(f"score, {how}", good, f"a score of {score!r}")
    check_attributes(case, model)
    # A model that was fitted is still there when a refit fails.
    _, Z, other_y, other_weights = draw_data(case, hostile=1.0)
    if told is not Failed:
        more = {"sample_weight": other_weights} if options else {}
        if case.attempt("refit", lambda: model.fit(Z, other_y, **more)) is Failed:
            after = case.attempt("answer after a failed refit", lambda: answer(model, X))
            case.expect("failed refit", after is not Failed and same(told, after), CHANGED)


def _sum_is_infinite(sample_weight=None):
    """Whether weights are too large for scikit-learn's `score`, which is NaN then."""
    with np.errstate(over="ignore"):
        return sample_weight is not None and np.isinf(np.sum(sample_weight, dtype=np.float64))


def check_copies(case, model, X, y, options, told):
    copy = case.attempt("pickle", lambda: pickle.loads(pickle.dumps(model)))
    if copy is not Failed:
        case.expect(
            "pickle",
            same(told, case.attempt("answer of a pickled copy", lambda: answer(copy, X))),
            "other answers",
        )
    state = getattr(model, "random_state", 0)
    if (
        not isinstance(state, int)
        or getattr(model, "warm_start", False)
        or getattr(model, "checkpoint", None)
    ):
        return
    if "cv" in vars(model) and not isinstance(model.cv, int) and hasattr(model.cv, "__next__"):
        return
    again = clone(model)
    jobs = "n_jobs" in vars(model) and chance(case.rng, 0.2)
    step = "fit again"
    if jobs:
        again.set_params(n_jobs=1 if model.n_jobs == 2 else 2)
        step += " with another n_jobs"
    if case.attempt(step, lambda: again.fit(X, y, **options)) is Failed:
        case.find(step, "wrong answer", "a second fit failed where the first did not")
        return
    retold = case.attempt("answer", lambda: answer(again, X))
    case.expect(step, retold is not Failed and same(told, retold), "other answers, the same random_state")


def check_answers(case, model, X, how):
    """Ask for everything that is asked with a table."""
    shares = None
    if hasattr(type(model), "predict_proba"):
        shares = case.attempt(f"predict_proba, {how}", lambda: model.predict_proba(X))
        if shares is not Failed:
            case.expect(
                f"predict_proba, {how}", shares.shape[1:] == model.classes_.shape, f"shape {shares.shape}"
            )
            good = np.isfinite(shares).all() and (shares >= 0).all() and (shares <= 1 + 1e-12).all()
            case.expect(
                f"predict_proba, {how}",
                good and np.allclose(shares.sum(axis=1), 1),
                f"shares {shares!r:.300}",
            )
    if hasattr(type(model), "predict"):
        labels = case.attempt(f"predict, {how}", lambda: model.predict(X))
        if labels is not Failed and shares is not Failed and shares is not None:
            case.expect(
                f"predict, {how}",
                same(labels, model.classes_.take(shares.argmax(axis=1))),
                "not the most probable",
            )
        if shares is not None:
            same_end = (labels is Failed) == (shares is Failed)
            case.expect(f"predict, {how}", same_end, "predict and predict_proba differ")
        elif labels is not Failed:
            case.expect(f"predict, {how}", np.isfinite(labels).all(), f"not finite: {labels!r:.300}")
    if hasattr(type(model), "apply"):
        case.attempt(f"apply, {how}", lambda: model.apply(X))
    if hasattr(type(model), "transform"):
        check_transform(case, model, X, how)


def check_transform(case, model, X, how):
    step = f"transform, {how}"
    kept = case.attempt(step, lambda: model.transform(X))
    names = case.attempt("get_feature_names_out", lambda: model.get_feature_names_out())
    if kept is Failed:
        return
    case.expect(
        step, names is Failed or kept.shape[1] == len(names), f"shape {kept.shape}, {len(names)} names"
    )
    if hasattr(model, "support_"):
        case.expect(step, kept.shape[1] == model.support_.sum(), f"shape {kept.shape}")
        whole = case.attempt(f"inverse_transform, {how}", lambda: model.inverse_transform(kept))
        shape = (kept.shape[0], model.n_features_in_)
        case.expect(f"inverse_transform, {how}", whole is Failed or whole.shape == shape, f"no shape {shape}")
    if isinstance(model, NumericCoder):
        case.expect(step, np.isfinite(kept).all(), f"not finite: {kept!r:.300}")
    output = pick(case.rng, ["pandas", "polars"])
    framed = case.attempt(
        f"{step} to {output}",
        lambda: clone_fitted(model).set_output(transform=output).transform(X),
        allowed=(ValueError, TypeError, UnicodeError),  # there are texts that no frame can hold
    )
    case.expect(f"{step} to {output}", framed is Failed or framed.shape == kept.shape, "another shape")


def clone_fitted(model):
    return pickle.loads(pickle.dumps(model))


def check_attributes(case, model):
    """Whatever it learned is there, of the right length."""
    allowed = (ValueError, TypeError, AttributeError)
    for name in dir(type(model)):
        if name.endswith("_") and not name.startswith("_"):
            case.attempt(name, lambda name=name: getattr(model, name), allowed=allowed)
    for name in ("export_text", "rules", "get_support", "get_metadata_routing"):
        if hasattr(type(model), name):
            case.attempt(name, lambda name=name: getattr(model, name)())
    if hasattr(model, "ranking_"):
        n, scores = model.n_features_in_, model.scores_
        units = model.units_
        good = scores.shape == model.support_.shape == model.ranking_.shape == (n,)
        good &= sorted(model.ranking_[units.first]) == list(range(1, units.n_free + 1))
        good &= all(len(set(model.support_[columns])) == 1 for columns in units.members)
        good &= not model.ranking_[units.kept].any() and model.support_[units.kept].all()
        good &= "infinite" in type(model).__doc__.lower() or not np.isinf(scores).any()
        case.expect("ranking_", good, f"{scores!r:.200} {model.ranking_!r:.200}")
    if hasattr(type(model), "get_feature_names_out"):
        wrong = pick(case.rng, [["a"], [], "a", 1, np.zeros((2, 2)), [None] * model.n_features_in_, object()])
        case.attempt("get_feature_names_out", lambda: model.get_feature_names_out(wrong))


def check_parameters(case, model):
    case.attempt("set_params", lambda: model.set_params(nonsense=1))
    name = pick(case.rng, sorted(model.get_params(deep=False)))
    value = pick(case.rng, junk_for(name))
    case.note(f"then {name}={value!r}")
    other = clone(model).set_params(**{name: value})
    case.attempt(f"fit with a junk {name}", lambda: other.fit(GOOD_X, GOOD_Y))


def run_function(case):
    function = functions()[case.name]
    arguments = draw_arguments(case.rng, function, lambda: draw_data(case))
    case.note(f"{case.name}(**{arguments!r})")
    case.attempt("call", lambda: function(**arguments), fitted=False)


def run_select(case):
    rng = case.rng
    sketch, X, y, _ = draw_data(case)
    assess.N_TREES = 3
    methods = [
        "auto",
        "relevance",
        "info-gain",
        "cfs",
        "ssv1",
        "ssv2",
        "pearson",
        "fscore",
        "relieff",
        "multisurf",
        "random",
        "no",
    ]
    options = {"method": pick(rng, methods), "check": chance(rng, 0.3), "random_state": 0}
    if options["method"] in ("auto", "relevance") and chance(rng, 0.8):
        options["parameters"] = pick(rng, [{"n_estimators": 3}, {"nonsense": 1}, {"alpha": 2}, 3])
    if chance(rng, 0.3):
        options["n_features_to_select"] = pick(rng, [1, 2, 0, -1, 1.5, "a", 10**30, np.int64(1), True])
    if chance(rng, 0.2):
        options["alpha"] = pick(rng, [0.05, 0, 1, np.nan, "a", -1, 0.999])
        options["error"] = pick(rng, ["fdr", "fwer", "none", "no", 1])
    case.note(options)
    found = case.attempt("select", lambda: foresift.select(X, y, **options))
    if found is Failed:
        return
    case.attempt("to_dict", lambda: json.dumps(found.to_dict(), allow_nan=False))
    for name in ("to_html", "to_frame", "__repr__"):
        case.attempt(name, lambda name=name: getattr(found, name)())
    case.attempt("transform", lambda: found.transform(X))
    _, variant = draw_variant(rng, sketch)
    Z = _make(case, variant)
    case.attempt("transform another", lambda: found.transform(Z))


def run_compare(case):
    rng = case.rng
    _, X, y, _ = draw_data(case)
    methods = pick(
        rng, [("info-gain", "random"), ("cfs",), [draw_selector(rng)], ("no",), [], "random", [("a", 3)]]
    )
    models = [
        ("c45",),
        ("nb", "knn"),
        [draw_classifier(rng)],
        ("svm",),
        ("ridge", "cart"),
        ("knn",),
        ("no",),
        [],
    ]
    estimators = pick(rng, models)
    options = {
        "cv": pick(rng, [2, 3, 0.3, 0, "a"]),
        "sizes": pick(rng, [None, 1, [1, 2], "own", 0, "a", 10**6]),
    }
    if chance(rng, 0.3):
        options["scoring"] = pick(rng, ["balanced_accuracy", ["accuracy", "f1_macro"], "no", 3])
    if chance(rng, 0.2):
        options["groups"] = pick(rng, [[0, 1] * 10, "a", pd.Series([1, None])])
    if chance(rng, 0.4):
        options["task"] = pick(rng, ["regression", "regression", "classification", "no"])
    case.note(f"{methods!r} {estimators!r} {options!r}")
    found = case.attempt("compare", lambda: foresift.compare(X, y, methods, estimators, **options))
    if found is Failed:
        return
    for failure in found.failures:
        wrong = re.search(r"\b(?!Value|Type)[A-Z]\w*Error\b", json.dumps(failure, default=str))
        case.expect("compare", wrong is None, f"a unit failed: {failure!r:.700}")
    case.attempt("to_dict", lambda: json.dumps(found.to_dict(), allow_nan=False))
    for name in ("to_html", "to_frame", "__repr__", "__str__"):
        case.attempt(name, lambda name=name: getattr(found, name)())
    case.attempt("verdict", lambda: found.verdict)
