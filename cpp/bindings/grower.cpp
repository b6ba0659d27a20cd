// The Python face of growing trees.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "bindings/arrays.hpp"
#include "bindings/column_store.hpp"
#include "grow/grower.hpp"

namespace foresift {
namespace {

constexpr Names<Draw, 3> kDraws = {{"all", Draw::all}, {"bootstrap", Draw::bootstrap}, {"subsample", Draw::subsample}};

void check_that(bool holds, const char* why) {
    if (!holds) refuse(why);
}

// Options that kernels rely on, or that would have them ask for absurd memory.
void check_options(const GrowOptions& o, std::size_t n_rows, std::size_t n_columns, std::size_t n_classes) {
    constexpr double kNoLimit = std::numeric_limits<double>::infinity();
    constexpr std::uint32_t kMostTimes = 1 << 20;
    check_range("min_leaf", o.split.min_leaf, 0.0, kNoLimit);
    check_range("min_split", o.min_split, 0.0, kNoLimit);
    check_range("min_gain", o.min_gain, -kNoLimit, kNoLimit);
    check_range("min_gap", o.split.min_gap, 0.0, kNoLimit);
    check_range("min_share", o.split.min_share, 0.0, 0.5);
    check_range("confidence", o.finish.confidence, 0.0, 0.5);
    check_range<std::uint32_t>("n_thresholds", o.split.n_thresholds, 0, kMaxCodes);
    check_memory("n_thresholds", o.split.n_thresholds + std::size_t{1}, n_classes, std::size_t{1} << 27);
    check_range<std::uint32_t>("n_permutations", o.n_permutations, 0, kMostTimes);
    check_range<std::uint32_t>("n_shadows", o.n_shadows, 0, kMostTimes);
    check_that(o.n_shadows == 0 || o.n_permutations == 0, "Give either n_shadows or n_permutations, not both.");
    check_memory("n_permutations", o.n_permutations, n_rows);
    check_memory("n_shadows", o.n_shadows + std::size_t{1}, std::max(n_rows, n_columns));
    if (!o.shadow_of.empty()) {
        check_length("shadow_of", o.shadow_of.size(), o.n_shadows * n_columns);
        check_below<std::uint32_t>("shadow_of", o.shadow_of, kMostTimes);
        check_memory("shadow_of", std::size_t{1} + *std::max_element(o.shadow_of.begin(), o.shadow_of.end()), n_rows);
    }
    if (!o.shadow_rows.empty()) {
        const std::size_t last =
            o.shadow_of.empty() ? o.n_shadows : 1 + *std::max_element(o.shadow_of.begin(), o.shadow_of.end());
        check_length("shadow_rows", o.shadow_rows.size(), last * n_rows);
        check_below<std::uint32_t>("shadow_rows", o.shadow_rows, n_rows);
    }
    if (!o.permute_column.empty()) check_length("permute_column", o.permute_column.size(), n_columns);
    check_below<std::uint32_t>("level_columns", o.level_columns, n_columns);
    check_below<std::uint32_t>("column_order", o.column_order, n_columns);
    if (o.draw != Draw::all) check_range<std::uint64_t>("n_draw", o.n_draw, 1, kMostRows);
    check_that(!o.split.c45 || o.split.missing == Missing::fractional, "c45 needs missing=\"fractional\".");
    check_that(!o.split.cut_penalty || (o.split.c45 && o.split.n_thresholds == 0),
               "cut_penalty needs c45=True, and every cut to be tried.");
    check_that(!o.split.group_categories || (o.split.c45 && o.split.multiway),
               "group_categories needs c45=True and multiway=True.");
    check_that(o.split.min_gap == 0 || o.split.n_thresholds == 0, "min_gap needs every cut to be tried.");
    check_that(!o.finish.wanted || (o.split.c45 && o.split.multiway), "finish needs c45=True and multiway=True.");
}

// A grower with the data it reads.
struct PyGrower {
    std::shared_ptr<const std::vector<Column>> columns;
    std::vector<std::int32_t> classes;
    std::vector<double> values;
    std::size_t n_outputs;
    std::uint32_t n_permutations = 0;
    std::size_t n_given = 0;       // permutations of shadow_rows
    bool in_order = false;         // draws go by column_order
    std::optional<Grower> grower;  // made when everything it reads has been looked at

    PyGrower(const ColumnStore& store, const Vector<std::int32_t>& y, std::uint32_t k,
             const std::optional<Vector<double>>& weights, const GrowOptions options)
        : columns(store.columns), classes(y.data(), y.data() + y.size()), n_outputs(k) {
        check_classes(classes, k);
        check_that(options.split.criterion != Criterion::variance, "criterion=\"variance\" needs a quantity, not classes.");
        make(store, {classes, k}, weights, options);
    }
    PyGrower(const ColumnStore& store, const Vector<double>& y, const std::optional<Vector<double>>& weights,
             const GrowOptions options)
        : columns(store.columns), values(y.data(), y.data() + y.size()), n_outputs(1) {
        check_quantity(values);
        check_that(options.split.criterion == Criterion::variance && !options.split.c45 && !options.finish.wanted,
                   "A quantity needs criterion=\"variance\".");
        make(store, Response(values), weights, options);
    }

    void make(const ColumnStore& store, const Response& response, const std::optional<Vector<double>>& weights,
              const GrowOptions& options) {
        check_length("target", response.size(), store.n_rows);
        if (weights) check_weights("weights", span_of(*weights), response.size());
        check_options(options, response.size(), columns->size(), n_outputs);
        n_permutations = options.n_shadows + options.n_permutations;
        n_given = options.shadow_rows.size() / std::max<std::size_t>(1, response.size());
        in_order = !options.column_order.empty();
        grower.emplace(*columns, response, span_of(weights), options);
    }
    std::size_t n_rows() const noexcept { return classes.size() + values.size(); }

    nb::list grow(const std::vector<std::uint64_t>& trees, const std::optional<Vector<double>>& feature_weights,
                  const StopFlag* stop, const std::optional<Vector<std::uint32_t>>& some,
                  std::uint32_t max_features) const {
        check_that(!feature_weights || !some, "A column has a weight or is left out: give one of the two.");
        check_that(!feature_weights || !in_order, "With column_order no column has a weight.");
        if (feature_weights) check_weights("feature_weights", span_of(*feature_weights), columns->size());
        if (some) check_allowed(span_of(*some));
        ColumnDraw draw(span_of(some), max_features);
        draw.weights = span_of(feature_weights);
        std::vector<Tree> grown;
        {
            const nb::gil_scoped_release unlocked;
            grown = grower->grow(trees, draw, stop_check(stop));
        }
        nb::list tables;
        for (auto& tree : grown)
            tables.append(nb::make_tuple(
                to_bytes(std::move(tree.nodes)), to_numpy(std::move(tree.counts), n_outputs),
                to_numpy(std::move(tree.set_offsets)), to_numpy(std::move(tree.set_codes)),
                to_numpy(std::move(tree.set_branches)), to_bytes(std::move(tree.tried)),
                to_numpy(std::move(tree.permuted), n_permutations), to_numpy(std::move(tree.complexity)),
                to_numpy(std::move(tree.variance))));
        return tables;
    }

    // Adds the votes of trees of some columns on rows[i] to out[i].
    void vote(const std::vector<std::uint64_t>& trees, const Vector<std::uint32_t>& allowed, std::uint32_t max_features,
              const Vector<std::uint32_t>& rows, Writable<double> out, const StopFlag* stop) const {
        check_allowed(span_of(allowed));
        check_below("rows", span_of(rows), n_rows());
        check_length("out", out.shape(0), rows.size());
        check_length("A row of out", out.shape(1), n_outputs);
        check_aligned<double>(out.data());
        check_apart(out.data(), out.nbytes(), rows.data(), rows.nbytes());
        check_apart(out.data(), out.nbytes(), allowed.data(), allowed.nbytes());
        const nb::gil_scoped_release unlocked;
        grower->vote(trees, {span_of(allowed), max_features}, span_of(rows), {out.data(), out.size()}, stop_check(stop));
    }

    void check_allowed(std::span<const std::uint32_t> allowed) const {
        check_that(!in_order, "With column_order no column is left out.");
        check_that(!allowed.empty() && allowed.back() < columns->size() &&
                       std::adjacent_find(allowed.begin(), allowed.end(), std::greater_equal<>()) == allowed.end(),
                   "columns must be numbers of columns, in rising order.");
    }

    NewArray<std::uint32_t> shadow(std::uint64_t number) const {
        check_that(n_given == 0 || number < n_given, "shadow_rows has no such permutation.");
        return to_numpy(grower->shadow_rows(number));
    }
    NewArray<double> ratios(std::uint64_t number) const { return to_numpy(grower->shadow_ratios(number)); }
    NewArray<std::uint32_t> drawn(std::uint64_t tree) const {
        std::vector<std::uint32_t> times;
        {
            const nb::gil_scoped_release unlocked;
            times = grower->drawn_rows(tree);
        }
        return to_numpy(std::move(times));
    }
};

void bind_options(nb::module_& m) {
    nb::class_<GrowOptions> options(m, "GrowOptions", "How trees are grown; cpp/grow/options.hpp says what each means.");
    const auto split = [&]<class T>(const char* name, T SplitOptions::*field) {
        options.def_prop_rw(name, [field](const GrowOptions& o) { return o.split.*field; },
                            [field](GrowOptions& o, T value) { o.split.*field = value; });
    };
    const auto finish = [&]<class T>(const char* name, T FinishOptions::*field) {
        options.def_prop_rw(name, [field](const GrowOptions& o) { return o.finish.*field; },
                            [field](GrowOptions& o, T value) { o.finish.*field = value; });
    };
    options.def("__init__", &make_options<GrowOptions>)
        .def_prop_rw("criterion", [](const GrowOptions& o) { return name_of(o.split.criterion, kCriteria); },
                     [](GrowOptions& o, const std::string& name) { o.split.criterion = criterion_of(name); })
        .def_prop_rw("missing", [](const GrowOptions& o) { return name_of(o.split.missing, kMissingRules); },
                     [](GrowOptions& o, const std::string& name) { o.split.missing = missing_of(name); })
        .def_prop_rw("draw", [](const GrowOptions& o) { return name_of(o.draw, kDraws); },
                     [](GrowOptions& o, const std::string& name) { o.draw = parse(name, kDraws, "way to draw rows"); })
        .def_rw("n_draw", &GrowOptions::n_draw)
        .def_rw("seed", &GrowOptions::seed)
        .def_rw("max_features", &GrowOptions::max_features)
        .def_rw("constant_leaf", &GrowOptions::constant_leaf)
        .def_rw("max_depth", &GrowOptions::max_depth)
        .def_rw("min_split", &GrowOptions::min_split)
        .def_rw("min_gain", &GrowOptions::min_gain)
        .def_rw("record_tried", &GrowOptions::record_tried)
        .def_rw("n_permutations", &GrowOptions::n_permutations)
        .def_rw("permute_column", &GrowOptions::permute_column)
        .def_rw("correct_nominal", &GrowOptions::correct_nominal)
        .def_rw("level_columns", &GrowOptions::level_columns)
        .def_rw("column_order", &GrowOptions::column_order)
        .def_rw("n_shadows", &GrowOptions::n_shadows)
        .def_rw("shadow_of", &GrowOptions::shadow_of)
        .def_prop_rw("shadow_rows", [](const GrowOptions& o) { return o.shadow_rows; },
                     [](GrowOptions& o, const Vector<std::uint32_t>& rows) {
                         o.shadow_rows.assign(rows.data(), rows.data() + rows.size());
                     })
        .def_rw("shadows_per_tree", &GrowOptions::shadows_per_tree);
    split("n_thresholds", &SplitOptions::n_thresholds);
    split("multiway", &SplitOptions::multiway);
    split("group_categories", &SplitOptions::group_categories);
    split("min_leaf", &SplitOptions::min_leaf);
    split("min_share", &SplitOptions::min_share);
    split("c45", &SplitOptions::c45);
    split("cut_penalty", &SplitOptions::cut_penalty);
    split("min_gap", &SplitOptions::min_gap);
    finish("finish", &FinishOptions::wanted);
    finish("collapse", &FinishOptions::collapse);
    finish("confidence", &FinishOptions::confidence);
    finish("raise_subtrees", &FinishOptions::raise);
    finish("value_thresholds", &FinishOptions::value_thresholds);
}

}  // namespace

void bind_grower(nb::module_& m) {
    bind_options(m);
    nb::class_<PyGrower>(m, "Grower", "Grows the trees of one forest; safe to use from many threads.")
        .def(nb::init<const ColumnStore&, const Vector<std::int32_t>&, std::uint32_t,
                      const std::optional<Vector<double>>&, GrowOptions>(),
             "store"_a.lock(), "target"_a.noconvert(), "n_classes"_a, "weights"_a.none().noconvert(),
             "options"_a = GrowOptions())
        .def(nb::init<const ColumnStore&, const Vector<double>&, const std::optional<Vector<double>>&, GrowOptions>(),
             "store"_a.lock(), "target"_a.noconvert(), "weights"_a.none().noconvert(), "options"_a = GrowOptions())
        .def("grow", &PyGrower::grow, "trees"_a, "feature_weights"_a.none().noconvert() = nb::none(),
             "stop"_a.none() = nb::none(), "columns"_a.none().noconvert() = nb::none(), "max_features"_a = 0)
        .def("vote", &PyGrower::vote, "trees"_a, "columns"_a.noconvert(), "max_features"_a, "rows"_a.noconvert(),
             "out"_a.noconvert(), "stop"_a.none() = nb::none(), "Add what trees of some columns say of some rows.")
        .def_prop_ro("n_rows", &PyGrower::n_rows)
        .def("shadow_rows", &PyGrower::shadow, "shadow"_a, "The row whose values each row has in a shadow.")
        .def("shadow_ratios", &PyGrower::ratios, "shadow"_a,
             "By what the weight of each row is multiplied in a shadow; empty: it stays.")
        .def("drawn_rows", &PyGrower::drawn, "tree"_a, "How often each row is drawn for a tree.");
}

}  // namespace foresift
