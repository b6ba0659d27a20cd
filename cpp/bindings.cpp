// The Python face of the column store, of growing trees and of single columns, and the module itself; Relief, what reads
// node tables and the networks have files of their own (bind_*.cpp). Nothing else includes nanobind; every call that works
// long releases the GIL.
#include "bindings.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "columns.hpp"
#include "null_gain.hpp"
#include "ssv_rank.hpp"
#include "tree.hpp"

namespace foresift {
namespace {

Criterion criterion_of(const std::string& name) {
    return parse<Criterion>(name,
                            {{"entropy", Criterion::entropy},
                             {"gini", Criterion::gini},
                             {"gain_ratio", Criterion::gain_ratio},
                             {"ssv", Criterion::ssv}},
                            "criterion");
}
Missing missing_of(const std::string& name) {
    return parse<Missing>(name, {{"learn", Missing::learn}, {"known", Missing::fractional}, {"fractional", Missing::fractional}},
                          "rule for missing values");
}

struct ColumnStore {
    std::uint32_t n_rows, max_bins;
    std::vector<Column> columns;

    const Column& at(std::size_t j) const {
        if (j >= columns.size()) throw nb::index_error("no such column");
        return columns[j];
    }
    void check_rows(std::size_t n) const {
        if (n != n_rows) throw nb::value_error("a column must have as many rows as the store");
    }

    template <class Real>
    void add_numeric(const Strided<Real>& block) {
        check_rows(block.shape(0));
        const nb::gil_scoped_release unlocked;
        // Some columns at a time are copied side by side: one row of a C-ordered block fills a cache line of each.
        constexpr std::size_t kTogether = 16;
        auto signalled = stop_check(nullptr);  // throws on Ctrl-C
        std::vector<Real> buffer(std::min(kTogether, block.shape(1)) * n_rows);
        const auto row_step = block.stride(0), column_step = block.stride(1);
        for (std::size_t first = 0; first < block.shape(1); first += kTogether) {
            const std::size_t width = std::min(kTogether, block.shape(1) - first);
            const Real* source = block.data() + static_cast<std::int64_t>(first) * column_step;
            if (row_step == 1) {
                for (std::size_t k = 0; k < width; ++k)
                    std::copy_n(source + static_cast<std::int64_t>(k) * column_step, n_rows, &buffer[k * n_rows]);
            } else {
                for (std::size_t i = 0; i < n_rows; ++i, source += row_step)
                    for (std::size_t k = 0; k < width; ++k)
                        buffer[k * n_rows + i] = source[static_cast<std::int64_t>(k) * column_step];
            }
            for (std::size_t k = 0; k < width; ++k) {
                columns.push_back(code_numeric<Real>({&buffer[k * n_rows], n_rows}, max_bins));
                signalled();
            }
        }
    }
    void add_nominal(const Vector<std::int32_t>& codes, std::uint32_t n_categories) {
        check_rows(codes.size());
        if (n_categories + 1 >= kMaxCodes) throw nb::value_error("too many categories");
        for (const auto code : span_of(codes))
            if (code < -1 || code >= static_cast<std::int64_t>(n_categories))
                throw nb::value_error("category code out of range");
        columns.push_back(code_nominal(span_of(codes), n_categories));
    }
    ColumnStore take(const std::vector<std::size_t>& some) const {
        ColumnStore taken{n_rows, max_bins, {}};
        for (const auto j : some) taken.columns.push_back(at(j));
        return taken;
    }
    nb::object codes(std::size_t j) const {
        const Column& column = at(j);
        if (column.narrow.empty()) return nb::cast(to_numpy(std::vector(column.wide)));
        return nb::cast(to_numpy(std::vector(column.narrow)));
    }
};

GrowOptions options_of(const nb::kwargs& kwargs) {
    GrowOptions o;
    for (auto [key, value] : kwargs) {
        const auto name = nb::cast<std::string>(key);
        if (name == "criterion") o.split.criterion = criterion_of(nb::cast<std::string>(value));
        else if (name == "missing") o.split.missing = missing_of(nb::cast<std::string>(value));
        else if (name == "n_thresholds") o.split.n_thresholds = nb::cast<std::uint32_t>(value);
        else if (name == "multiway") o.split.multiway = nb::cast<bool>(value);
        else if (name == "min_leaf") o.split.min_leaf = nb::cast<double>(value);
        else if (name == "max_features") o.max_features = nb::cast<std::uint32_t>(value);
        else if (name == "max_depth") o.max_depth = nb::cast<std::int32_t>(value);
        else if (name == "min_split") o.min_split = nb::cast<double>(value);
        else if (name == "min_gain") o.min_gain = nb::cast<double>(value);
        else if (name == "record_tried") o.record_tried = nb::cast<bool>(value);
        else if (name == "c45") o.split.c45 = nb::cast<bool>(value);
        else if (name == "cut_penalty") o.split.cut_penalty = nb::cast<bool>(value);
        else if (name == "finish") o.finish.wanted = nb::cast<bool>(value);
        else if (name == "collapse") o.finish.collapse = nb::cast<bool>(value);
        else if (name == "confidence") o.finish.confidence = nb::cast<double>(value);
        else if (name == "raise_subtrees") o.finish.raise = nb::cast<bool>(value);
        else if (name == "value_thresholds") o.finish.value_thresholds = nb::cast<bool>(value);
        else if (name == "n_permutations") o.n_permutations = nb::cast<std::uint32_t>(value);
        else if (name == "permute_column") o.permute_column = nb::cast<std::vector<std::uint8_t>>(value);
        else if (name == "level_columns") o.level_columns = nb::cast<std::vector<std::uint32_t>>(value);
        else if (name == "n_twins") o.n_twins = nb::cast<std::uint32_t>(value);
        else if (name == "twins_per_tree") o.twins_per_tree = nb::cast<std::uint32_t>(value);
        else if (name == "min_share") o.split.min_share = nb::cast<double>(value);
        else if (name == "column_order") o.column_order = nb::cast<std::vector<std::uint32_t>>(value);
        else if (name == "n_draw") o.n_draw = nb::cast<std::uint32_t>(value);
        else if (name == "seed") o.seed = nb::cast<std::uint64_t>(value);
        else if (name == "draw")
            o.draw = parse<Draw>(nb::cast<std::string>(value),
                                 {{"all", Draw::all}, {"bootstrap", Draw::bootstrap}, {"subsample", Draw::subsample}},
                                 "way to draw rows");
        else throw nb::type_error(("unknown option: " + name).c_str());
    }
    return o;
}

// A grower with the data it reads.
struct PyGrower {
    std::shared_ptr<ColumnStore> store;
    std::vector<std::int32_t> target;
    std::uint32_t n_classes, n_permutations = 0;
    std::optional<Grower> grower;  // made when everything it reads has been looked at

    PyGrower(std::shared_ptr<ColumnStore> s, const Vector<std::int32_t>& y, std::uint32_t k,
             const std::optional<Vector<double>>& weights, const nb::kwargs& kwargs)
        : store(std::move(s)), target(y.data(), y.data() + y.size()), n_classes(k) {
        store->check_rows(target.size());
        check_classes(target, k);
        if (weights && weights->size() != target.size()) throw nb::value_error("one weight per row is needed");
        const auto options = options_of(kwargs);
        n_permutations = options.n_twins + options.n_permutations;
        if (options.n_twins && options.n_permutations) throw nb::value_error("either n_twins or n_permutations");
        for (const auto j : options.column_order)
            if (j >= store->columns.size()) throw nb::index_error("no such column");
        grower.emplace(store->columns, target, k, weights ? span_of(*weights) : std::span<const double>(), options);
    }

    nb::list grow(const std::vector<std::uint64_t>& trees, const std::optional<Vector<double>>& feature_weights,
                  const StopFlag* stop, const std::optional<Vector<std::uint32_t>>& columns,
                  std::uint32_t max_features) const {
        if (feature_weights && feature_weights->size() != store->columns.size())
            throw nb::value_error("one weight per feature is needed");
        if (feature_weights && columns) throw nb::value_error("a column has a weight or is left out, not both");
        if (columns) check_allowed(span_of(*columns));
        ColumnDraw draw(columns ? span_of(*columns) : std::span<const std::uint32_t>(), max_features);
        if (feature_weights) draw.weights = span_of(*feature_weights);
        std::vector<Tree> grown;
        {
            const nb::gil_scoped_release unlocked;
            grown = grower->grow(trees, draw, stop_check(stop));
        }
        nb::list tables;
        for (auto& tree : grown)
            tables.append(nb::make_tuple(
                to_bytes(std::move(tree.nodes)), to_numpy(std::move(tree.counts), n_classes),
                to_numpy(std::move(tree.set_offsets)), to_numpy(std::move(tree.set_codes)),
                to_numpy(std::move(tree.set_branches)), to_bytes(std::move(tree.tried)),
                to_numpy(std::move(tree.permuted), n_permutations)));
        return tables;
    }

    // Adds the votes of trees of some columns on rows[i] to out[i].
    void vote(const std::vector<std::uint64_t>& trees, const Vector<std::uint32_t>& allowed, std::uint32_t max_features,
              const Vector<std::uint32_t>& rows, nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out,
              const StopFlag* stop) const {
        check_allowed(span_of(allowed));
        for (const auto row : span_of(rows))
            if (row >= target.size()) throw nb::index_error("no such row");
        if (out.shape(0) != rows.size() || out.shape(1) != n_classes) throw nb::value_error("wrong shape of out");
        const nb::gil_scoped_release unlocked;
        grower->vote(trees, {span_of(allowed), max_features}, span_of(rows), {out.data(), out.size()}, stop_check(stop));
    }

    void check_allowed(std::span<const std::uint32_t> allowed) const {
        if (allowed.empty() || allowed.back() >= store->columns.size() ||
            std::adjacent_find(allowed.begin(), allowed.end(), std::greater_equal<>()) != allowed.end())
            throw nb::value_error("columns must be numbers of columns, in rising order");
    }

    NewArray<std::uint32_t> twin(std::uint64_t number) const { return to_numpy(grower->twin_rows(number)); }
    NewArray<double> ratios(std::uint64_t number) const { return to_numpy(grower->twin_ratios(number)); }
    NewArray<std::uint32_t> drawn(std::uint64_t tree) const {
        std::vector<std::uint32_t> times;
        {
            const nb::gil_scoped_release unlocked;
            times = grower->drawn_rows(tree);
        }
        return to_numpy(std::move(times));
    }
};

void check_sizes(std::uint32_t first, std::uint32_t second) {
    if (first == 0 || second == 0 || std::uint64_t{first} + second > (1ULL << 31))
        throw nb::value_error("both classes need rows, and at most 2^31 in all");
}

double null_tail(std::uint32_t first, std::uint32_t second, double gain) {
    check_sizes(first, second);
    const nb::gil_scoped_release unlocked;
    return NullGain(first, second, stop_check(nullptr)).tail(gain);
}

std::pair<double, double> null_moments(std::uint32_t first, std::uint32_t second, std::uint32_t n_points) {
    check_sizes(first, second);
    const nb::gil_scoped_release unlocked;
    NullGain null(first, second, stop_check(nullptr));
    const Moments moments = n_points == 0 ? null.moments() : null.approximate_moments(n_points);
    return {moments.mean, moments.variance};
}

NewArray<double> permuted(const ColumnStore& store, std::size_t j, const Vector<std::int32_t>& target,
                          std::uint32_t n_classes, bool multiway, std::uint32_t n_permutations, std::uint64_t seed) {
    store.check_rows(target.size());
    check_classes(span_of(target), n_classes);
    if (n_classes >= CountCase::kLimit) throw nb::value_error("too many classes");
    std::vector<double> gains;
    {
        const nb::gil_scoped_release unlocked;
        SplitOptions options;
        options.multiway = multiway;
        gains = permuted_gains(store.at(j), span_of(target), n_classes, options, n_permutations, seed,
                               stop_check(nullptr));
    }
    return to_numpy(std::move(gains));
}

NewArray<double> ranks_by_ssv(const ColumnStore& store, std::size_t first, std::size_t last,
                              const Vector<std::int32_t>& target, std::uint32_t n_classes,
                              const std::optional<Vector<double>>& weights, const StopFlag* stop) {
    store.check_rows(target.size());
    if (first > last || last > store.columns.size()) throw nb::index_error("no such columns");
    check_classes(span_of(target), n_classes);
    if (weights && weights->size() != target.size()) throw nb::value_error("one weight per row is needed");
    const auto columns = std::span<const Column>(store.columns).subspan(first, last - first);
    for (const auto& column : columns)
        if (column.has_missing && !column.nominal) throw nb::value_error("a numeric column has missing values");
    std::vector<double> ranks;
    {
        const nb::gil_scoped_release unlocked;
        ranks = ssv_ranks(columns, span_of(target), n_classes, weights ? span_of(*weights) : std::span<const double>(),
                          stop_check(stop));
    }
    return to_numpy(std::move(ranks));
}

std::tuple<double, double, bool> best_split(const Vector<double>& x, const Vector<std::int32_t>& y, std::uint32_t n_classes,
                                            const Vector<double>& weights, const std::string& criterion,
                                            const std::string& missing) {
    if (x.size() != y.size() || x.size() != weights.size()) throw nb::value_error("lengths differ");
    const nb::gil_scoped_release unlocked;
    const Column column = code_numeric<double>(span_of(x), kMaxCodes);
    SplitOptions options;
    options.criterion = criterion_of(criterion);
    options.missing = missing_of(missing);
    options.min_leaf = 0;
    const Split split = split_column(column, span_of(y), n_classes, span_of(weights), options);
    const double threshold = split.found() && std::isnan(split.threshold)
                                 ? column.threshold_between(split.cut, split.cut + 1)
                                 : split.threshold;
    return {split.gain, threshold, split.missing_branch == 0};
}

std::tuple<double, std::vector<int>> nominal_split(const Vector<std::int32_t>& codes, std::uint32_t n_categories,
                                                   const Vector<std::int32_t>& y, std::uint32_t n_classes,
                                                   const Vector<double>& weights, const std::string& criterion,
                                                   bool multiway, const std::string& missing) {
    if (codes.size() != y.size() || codes.size() != weights.size()) throw nb::value_error("lengths differ");
    const nb::gil_scoped_release unlocked;
    const Column column = code_nominal(span_of(codes), n_categories);
    SplitOptions options;
    options.criterion = criterion_of(criterion);
    options.missing = missing_of(missing);
    options.multiway = multiway;
    options.min_leaf = 0;
    const Split split = split_column(column, span_of(y), n_classes, span_of(weights), options);
    std::vector<int> branches(n_categories, -1);
    for (std::size_t g = 0; g < split.grouping.categories.size(); ++g)
        if (split.grouping.categories[g] < n_categories)
            branches[split.grouping.categories[g]] = split.grouping.branches[g];
    return {split.gain, branches};
}

}  // namespace
}  // namespace foresift

NB_MODULE(_core, m) {
    // Ctrl-C ends the process while a frame of the interrupted call still holds a grower: that is no leak.
    nb::set_leak_warnings(false);
    using namespace foresift;
    m.doc() = "Native kernels: column store, tree growing, prediction.";

    nb::class_<ColumnStore>(m, "ColumnStore", "Order-preserving integer codes per column.")
        .def("__init__", [](ColumnStore* self, std::uint32_t n_rows, std::uint32_t max_bins) {
            new (self) ColumnStore{n_rows, max_bins, {}};
        }, "n_rows"_a, "max_bins"_a = kMaxCodes)
        .def("add_numeric", &ColumnStore::add_numeric<float>, "block"_a.noconvert(), "Append float32 columns.")
        .def("add_numeric", &ColumnStore::add_numeric<double>, "block"_a.noconvert(), "Append float64 columns.")
        .def("add_nominal", &ColumnStore::add_nominal, "codes"_a, "n_categories"_a, "Append one nominal column.")
        .def_ro("n_rows", &ColumnStore::n_rows)
        .def_prop_ro("n_columns", [](const ColumnStore& s) { return s.columns.size(); })
        .def("take", &ColumnStore::take, "columns"_a, "A store of these columns, copied.")
        .def("codes", &ColumnStore::codes, "column"_a)
        .def("values", [](const ColumnStore& s, std::size_t j) {
            const Column& column = s.at(j);
            std::vector<double> values = column.doubles;
            values.insert(values.end(), column.floats.begin(), column.floats.end());
            return to_numpy(std::move(values));
        }, "column"_a)
        .def("n_values", [](const ColumnStore& s, std::size_t j) { return s.at(j).n_values; }, "column"_a)
        .def("is_nominal", [](const ColumnStore& s, std::size_t j) { return s.at(j).nominal; }, "column"_a)
        .def("has_missing", [](const ColumnStore& s, std::size_t j) { return s.at(j).has_missing; }, "column"_a)
        .def("is_binned", [](const ColumnStore& s, std::size_t j) { return s.at(j).binned; }, "column"_a);

    nb::class_<StopFlag>(m, "StopFlag", "Lets one thread ask the others to stop.")
        .def(nb::init<>())
        .def("set", [](StopFlag& flag) { flag.requested = true; });

    nb::class_<PyGrower>(m, "Grower", "Grows the trees of one forest; safe to use from many threads.")
        .def(nb::init<std::shared_ptr<ColumnStore>, const Vector<std::int32_t>&, std::uint32_t,
                      const std::optional<Vector<double>>&, const nb::kwargs&>(),
             "store"_a, "target"_a, "n_classes"_a, "weights"_a.none(), "options"_a,
             nb::sig("def __init__(self, store: ColumnStore, target: NDArray[numpy.int32], n_classes: int, "
                     "weights: NDArray[numpy.float64] | None, **options: object) -> None"))
        .def("grow", &PyGrower::grow, "trees"_a, "feature_weights"_a.none() = nb::none(), "stop"_a.none() = nb::none(),
             "columns"_a.none() = nb::none(), "max_features"_a = 0)
        .def("vote", &PyGrower::vote, "trees"_a, "columns"_a, "max_features"_a, "rows"_a, "out"_a.noconvert(),
             "stop"_a.none() = nb::none(), "Add what trees of some columns say of some rows.")
        .def_prop_ro("n_rows", [](const PyGrower& g) { return g.target.size(); })
        .def("twin_rows", &PyGrower::twin, "twin"_a, "The row whose values each row has in a twin.")
        .def("twin_ratios", &PyGrower::ratios, "twin"_a,
             "By what the weight of each row is multiplied in a twin; empty: it stays.")
        .def("drawn_rows", &PyGrower::drawn, "tree"_a, "How often each row is drawn for a tree.");

    m.def("null_tail", &null_tail, "first"_a, "second"_a, "gain"_a);
    m.def("null_moments", &null_moments, "first"_a, "second"_a, "n_points"_a = 0);
    m.def("permuted_gains", &permuted, "store"_a, "column"_a, "target"_a, "n_classes"_a, "multiway"_a,
          "n_permutations"_a, "seed"_a);
    m.def("ssv_ranks", &ranks_by_ssv, "store"_a, "first"_a, "last"_a, "target"_a, "n_classes"_a, "weights"_a.none(),
          "stop"_a.none() = nb::none());
    m.def("best_split", &best_split, "x"_a, "y"_a, "n_classes"_a, "weights"_a, "criterion"_a, "missing"_a);
    m.def("nominal_split", &nominal_split, "codes"_a, "n_categories"_a, "y"_a, "n_classes"_a, "weights"_a, "criterion"_a,
          "multiway"_a, "missing"_a);
    bind_relief(m);
    bind_node_tables(m);
    bind_networks(m);
}
