"""ReliefF for a quantity: against Weka, CORElearn and a literal twin."""

import numpy as np
import pytest
import reference_relief as reference
from oracle_tables import table
from relief_tables import mixed_table, scaled

from foresift import ReliefFSelector, ReliefSelector
from foresift.data.table import make_table

# Weka 3.9.7, ReliefFAttributeEval -M -1 -D 1 -K k, with sigma also -W -A sigma. No distances tie.
WEKA = {
    ("attitude", 10, None): [
        0.053869725326903095,
        0.0017003996951600875,
        0.01506116409468633,
        0.00773211001439858,
        0.017239430411049278,
        -0.015557641682788975,
    ],
    ("attitude", 5, None): [
        0.029773067403482484,
        0.01121691894750873,
        -0.00037785042145915826,
        -0.0023463909116483578,
        0.021876811894663062,
        -0.005185215770635521,
    ],
    ("attitude", 1, None): [
        0.028233989423098682,
        0.025574675790061396,
        -0.013842024165943462,
        -0.008913101426096234,
        0.04552248867894709,
        0.022634563195998242,
    ],
    ("attitude", 10, 2.0): [
        0.028505666835099225,
        0.020278476253744265,
        -0.017128360361658962,
        -0.008113052308495683,
        0.027047225430213123,
        0.0012618901913870328,
    ],
    ("longley", 10, None): [
        0.12100689659082287,
        0.12580021227118202,
        -1.873716511513468e-05,
        0.1251641087925408,
        0.10620014639996586,
        0.11718752866560914,
    ],
    ("longley", 5, None): [
        0.03583343779772043,
        0.04799948645045474,
        -0.027654120493693618,
        0.07564343785130354,
        0.030522866901860235,
        0.03361335610576402,
    ],
    ("longley", 1, None): [
        -0.009114253086107547,
        0.007528934033892001,
        0.020561118952691956,
        0.004376891908598017,
        -0.0032360496171523756,
        1.3877787807814457e-17,
    ],
    ("longley", 10, 2.0): [
        0.01060110434828905,
        0.023521870532705907,
        -0.004785842087678183,
        0.02665961295792041,
        0.00896233822942849,
        0.010091583625071995,
    ],
    ("mtcars", 10, None): [
        0.021966810248961896,
        0.020264509900994904,
        0.007148367006960782,
        -0.004819720729793225,
        0.04102906954500529,
        -0.0013632983775774266,
        0.011313079367117923,
        0.018233908874730975,
        -0.0183299480090115,
        -0.002429384298146209,
    ],
    ("mtcars", 5, None): [
        0.020722313326848235,
        0.010385029414162597,
        0.03079684452423545,
        0.0010300636816719666,
        0.028511781820293236,
        0.0018036065149327901,
        -0.01623692469026139,
        -0.025674848618652612,
        -0.024108150644051418,
        0.0019234247678218408,
    ],
    ("mtcars", 1, None): [
        0.0,
        0.0015342118324962115,
        0.001297834012826217,
        -0.0017416847515107914,
        0.016869554106561463,
        0.01426508983782361,
        0.03748347179087988,
        0.0,
        0.04480167342624214,
        -0.01269119686291792,
    ],
    ("mtcars", 10, 2.0): [
        0.029571813404031547,
        0.012771710822635965,
        0.02259526594548396,
        -0.0007588432718141219,
        0.019729093074211224,
        0.013907588110560837,
        0.0045532932695276605,
        -0.004388127532371686,
        0.00519307808482021,
        0.00717517824560801,
    ],
    ("airquality", 10, None): [
        0.0007367345502515554,
        0.007224891977514913,
        0.010563895028028666,
        0.005101263860613381,
        -0.009959972756651031,
    ],
    ("airquality", 5, None): [
        0.013741026261863576,
        0.017829016739680112,
        0.00230746471635343,
        0.0038080226570959205,
        -0.017198902049171835,
    ],
    ("airquality", 1, None): [
        0.04003398179485025,
        0.02314607787373575,
        0.007234566960826444,
        0.004209121611809138,
        -0.0029909260977034197,
    ],
    ("airquality", 10, 2.0): [
        0.026469596499461068,
        0.02260035546164242,
        0.0009038920558350622,
        0.0016538661734512537,
        -0.012035446692280474,
    ],
}

# CORElearn 1.57.3.1, RReliefFequalK and RReliefFexpRank, numAttrProportionEqual=0 and Different=1.
CORELEARN = {
    ("attitude", 10, None): [
        0.0538697253269035,
        0.00170039969516064,
        0.015061164094686,
        0.00773211001439889,
        0.0172394304110495,
        -0.0155576416827888,
    ],
    ("attitude", 5, None): [
        0.0297730674034825,
        0.0112169189475086,
        -0.000377850421459019,
        -0.0023463909116485,
        0.0218768118946631,
        -0.00518521577063563,
    ],
    ("attitude", 70, 20.0): [
        0.0983476404126702,
        0.0128116881418309,
        0.0485850845293205,
        0.027524274166042,
        0.0343477020155042,
        -0.0156611237010393,
    ],
    ("longley", 10, None): [
        0.121006896590823,
        0.125800212271182,
        -1.87371651150792e-05,
        0.125164108792541,
        0.106200146399966,
        0.11718752866561,
    ],
    ("longley", 5, None): [
        0.0358334377977205,
        0.0479994864504548,
        -0.0276541204936936,
        0.0756434378513035,
        0.0305228669018602,
        0.0336133561057641,
    ],
    ("longley", 70, 20.0): [
        0.236858169788348,
        0.236790443044971,
        0.0318035318164208,
        0.136447071072214,
        0.218794390222236,
        0.230934472564504,
    ],
    ("mtcars", 10, None): [
        0.0219668102489619,
        0.0202645099009949,
        0.00714836700696073,
        -0.00481972072979325,
        0.0410290695450052,
        -0.00136329837757723,
        0.011313079367118,
        0.018233908874731,
        -0.0183299480090117,
        -0.00242938429814663,
    ],
    ("mtcars", 5, None): [
        0.0207223133268483,
        0.0103850294141625,
        0.0307968445242354,
        0.00103006368167194,
        0.0285117818202932,
        0.00180360651493279,
        -0.0162369246902614,
        -0.0256748486186526,
        -0.0241081506440514,
        0.00192342476782156,
    ],
}


@pytest.mark.parametrize(("name", "k", "sigma"), WEKA)
def test_equals_weka(name, k, sigma):
    X, y = table(name)
    found = ReliefFSelector(len(X.columns), n_neighbors=k, sigma=sigma, task="regression").fit(X, y)
    assert found.scores_ == pytest.approx(WEKA[name, k, sigma], abs=1e-13)


@pytest.mark.parametrize(("name", "k", "sigma"), CORELEARN)
def test_equals_corelearn(name, k, sigma):
    X, y = table(name)
    found = ReliefFSelector(len(X.columns), n_neighbors=k, sigma=sigma, task="regression").fit(X, y)
    assert found.scores_ == pytest.approx(CORELEARN[name, k, sigma], abs=1e-13)


def quantity_table(seed):
    """Ties in the rows and in y."""
    frame, X, n_values, y, rng = mixed_table(seed)
    y = rng.normal(size=len(y)) if seed % 2 else rng.integers(0, 5, size=len(y)) + 0.5
    varies = [len(np.unique(column[~np.isnan(column)])) > 1 for column in X.T]
    return frame, X, n_values, y, rng, np.array(varies)


@pytest.mark.filterwarnings("ignore:No feature passed")
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("sigma", [None, 1.5])
def test_equals_the_twin(seed, sigma):
    frame, X, n_values, y, rng, varies = quantity_table(seed)
    k = int(rng.integers(1, 6))
    for weights in (None, rng.integers(1, 4, size=len(y)).astype(float)):
        ones = np.ones(len(y)) if weights is None else weights
        found = ReliefFSelector(n_neighbors=k, sigma=sigma).fit(frame, y, sample_weight=weights).scores_
        expected = reference.rrelieff(X, n_values, scaled(y), k, ones, sigma)
        assert found[varies] == pytest.approx(expected[varies], abs=1e-11)
        assert (found[~varies] <= 0).all()


@pytest.mark.filterwarnings("ignore:No feature passed")
@pytest.mark.parametrize("seed", range(10))
def test_influence_by_rank_for_classes(seed):
    frame, X, n_values, y, rng = mixed_table(seed)
    for weights in (np.ones(len(y)), rng.integers(1, 4, size=len(y)).astype(float)):
        found = ReliefFSelector(n_neighbors=5, sigma=2).fit(frame, y, sample_weight=weights).scores_
        assert found == pytest.approx(reference.relief(X, n_values, y, 5, weights, sigma=2), abs=1e-12)


def test_a_wide_sigma_is_equal_influence_and_a_narrow_one_the_nearest():
    X, y = table("attitude")
    fit = lambda **given: ReliefFSelector(6, task="regression", **given).fit(X, y).scores_  # noqa: E731
    assert fit(sigma=1e6) == pytest.approx(fit(), abs=1e-9)
    assert fit(sigma=1e-9) == pytest.approx(fit(n_neighbors=1), abs=1e-15)


def test_unit_of_y_and_threads_and_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 7))
    y = X[:, 0] + rng.normal(size=300)
    whole = ReliefFSelector().fit(X, y)
    assert whole.ranking_[0] == 1
    np.testing.assert_array_equal(ReliefFSelector(n_jobs=2).fit(X, y).scores_, whole.scores_)
    assert ReliefFSelector(task="regression").fit(X, 8 - 1e100 * y).scores_ == pytest.approx(
        whole.scores_, abs=1e-12
    )
    many = [ReliefFSelector(n_samples=50, random_state=seed).fit(X, y).scores_ for seed in range(60)]
    spread = np.std(many, axis=0).max()
    assert np.mean(many, axis=0) == pytest.approx(whole.scores_, abs=5 * spread / 60**0.5 + 0.002)
    coded = ReliefFSelector().fit_table(make_table(X, y, task="regression"))
    assert coded.scores_ == pytest.approx(whole.scores_, abs=1e-12)


@pytest.mark.filterwarnings("ignore:No feature passed")
def test_the_task():
    X = np.array([[0.0, 3.0], [0.2, 1.0], [0.5, 2.0], [1.0, 0.0], [0.1, 0.7], [0.9, 2.2]])
    y = np.array([0, 0, 1, 1, 0, 1])
    as_classes, as_numbers = (
        ReliefFSelector(n_neighbors=2, task=task).fit(X, y).scores_
        for task in ("classification", "regression")
    )
    assert not np.allclose(as_classes, as_numbers)
    np.testing.assert_array_equal(ReliefFSelector(n_neighbors=2).fit(X, y).scores_, as_classes)
    halves = ReliefFSelector(n_neighbors=2).fit(X, y / 2).scores_
    assert halves == pytest.approx(as_numbers, abs=1e-15)
    with pytest.raises(ValueError, match="needs classes, but y is a quantity"):
        ReliefFSelector(task="classification").fit(X, y / 2)
    with pytest.raises(ValueError, match="needs classes, but y is a quantity"):
        ReliefSelector().fit(X, y / 2)


@pytest.mark.filterwarnings("ignore:No feature passed")
def test_neighbours_that_do_not_differ_in_y_or_differ_entirely():
    X = np.array([[0.0], [0.1], [0.9], [1.0]])
    alike = ReliefFSelector(n_neighbors=1, task="regression").fit(X, [0, 0, 1, 1])
    assert alike.scores_ == pytest.approx([-0.1], abs=1e-15)
    apart = ReliefFSelector(n_neighbors=1, task="regression").fit(X, [0, 1, 0, 1])
    assert apart.scores_ == pytest.approx([0.1], abs=1e-15)


@pytest.mark.parametrize("bad", [{"sigma": 0}, {"sigma": 1e7}, {"task": "ranking"}])
def test_bad_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        ReliefFSelector(**bad).fit(np.zeros((4, 1)), [0.5, 1, 0, 1])
