// The Python face of what reads node tables: prediction, trials below their own split, rounds of pruning.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "bindings/arrays.hpp"
#include "kernels/ssv_rank.hpp"
#include "walk/below_own_split.hpp"
#include "walk/predict.hpp"

namespace foresift {
namespace {

// nodes (bytes), counts, set_offsets, set_codes, set_branches: the arrays of a NodeTable.
using TableArrays = std::tuple<Rows<std::uint8_t>, Rows<double>, Vector<std::int32_t>, Vector<std::uint16_t>,
                               Vector<std::uint16_t>>;

template <class Record> std::span<const Record> records_of(const Rows<std::uint8_t>& bytes, const char* what) {
    if (bytes.shape(1) != sizeof(Record)) refuse(std::string(what) + " must be raw bytes of the layout in grow/node.hpp.");
    check_aligned<Record>(bytes.data());
    return {reinterpret_cast<const Record*>(bytes.data()), bytes.shape(0)};
}

TreeView view_of(const TableArrays& arrays) {
    const auto& [nodes, counts, offsets, codes, branches] = arrays;
    check_length("counts", counts.shape(0), nodes.shape(0));
    return checked({records_of<Node>(nodes, "nodes"), values_of(counts), span_of(offsets), span_of(codes),
                    span_of(branches), counts.shape(1)});
}

NewArray<std::uint8_t> trials_below_own_split(const Rows<std::uint8_t>& nodes, const Rows<std::uint8_t>& tried) {
    const auto all = records_of<Node>(nodes, "nodes");
    const auto trials = records_of<Tried>(tried, "tried");
    check_parents(all);
    for (const auto& trial : trials)
        if (trial.node < 0 || static_cast<std::size_t>(trial.node) >= all.size())
            refuse("A trial belongs to no node: its number is " + std::to_string(trial.node) + ".");
    return to_numpy(below_own_split(all, trials));
}

// The round in which each node's split is deleted; -1 for a leaf.
NewArray<std::int32_t> ssv_rounds(const TableArrays& table) {
    const TreeView tree = view_of(table);
    check_children(tree);
    if (tree.n_classes == 0) refuse("A classification tree is needed.");
    std::vector<std::int32_t> result(tree.nodes.size(), -1);
    {
        const nb::gil_scoped_release unlocked;
        const auto splits = splits_of(tree.nodes, tree.counts, tree.n_classes);
        for (const auto& split : splits)
            if (!std::isfinite(split.ssv) || !std::isfinite(split.saved))
                refuse("Gains, counts and sizes must be finite.");
        const auto rounds = rounds_of_pruning(splits);
        for (std::size_t k = 0; k < splits.size(); ++k) result[splits[k].node] = rounds[k];
    }
    return to_numpy(std::move(result));
}

// A leaf by itself reads a column too: see Step in predict.cpp.
template <class Real>
Matrix<Real> matrix_for(const TreeView& tree, const Rows<Real>& x) {
    check_aligned<Real>(x.data());
    const auto least = std::max<std::size_t>(tree.n_features, 1);
    if (x.shape(1) < least)
        refuse("The rows must have at least " + std::to_string(least) + " columns for this tree, but have " +
               std::to_string(x.shape(1)) + ".");
    return {x.data(), x.shape(0), x.shape(1)};
}

void check_out(const Writable<double>& out, const TableArrays& table) {
    const auto apart = [&](const auto&... array) {
        (check_apart(out.data(), out.nbytes(), array.data(), array.nbytes()), ...);
    };
    std::apply(apart, table);
}

template <class Real>
void add_proba(const std::vector<TableArrays>& tables, const Rows<Real>& x,
               const std::optional<Vector<std::uint32_t>>& rows, Writable<double> out, const StopFlag* stop) {
    check_length("out", out.shape(0), x.shape(0));
    check_aligned<double>(out.data());
    if (rows) {
        check_below("rows", span_of(*rows), x.shape(0));
        check_apart(out.data(), out.nbytes(), rows->data(), rows->nbytes());
        if (rows->size() == 0) return;  // to the kernel no rows are all of them
    }
    std::vector<TreeView> trees;
    for (const auto& table : tables) {
        trees.push_back(view_of(table));
        matrix_for(trees.back(), x);
        check_range<std::size_t>("The number of classes", trees.back().n_classes, 1, out.shape(1));
        check_length("A row of out", out.shape(1), trees.back().n_classes);
        check_out(out, table);
    }
    if (trees.empty()) return;
    const nb::gil_scoped_release unlocked;
    const auto matrix = matrix_for(trees.front(), x);
    add_probabilities<Real>(trees, matrix, any_missing(matrix), span_of(rows), {out.data(), out.size()}, stop_check(stop));
}

template <class Real>
NewArray<std::int32_t> leaves(const TableArrays& table, const Rows<Real>& x) {
    const TreeView tree = view_of(table);
    const auto matrix = matrix_for(tree, x);
    std::vector<std::int32_t> result(x.shape(0));
    {
        const nb::gil_scoped_release unlocked;
        find_leaves(tree, matrix, any_missing(matrix), {}, result);
    }
    return to_numpy(std::move(result));
}

}  // namespace

void bind_node_tables(nb::module_& m) {
    m.def("below_own_split", &trials_below_own_split, "nodes"_a.noconvert(), "tried"_a.noconvert());
    m.def("ssv_rounds", &ssv_rounds, "table"_a.noconvert());
    m.def("add_proba", &add_proba<float>, "tables"_a.noconvert(), "x"_a.noconvert(), "rows"_a.none().noconvert(),
          "out"_a.noconvert(), "stop"_a.none() = nb::none());
    m.def("add_proba", &add_proba<double>, "tables"_a.noconvert(), "x"_a.noconvert(), "rows"_a.none().noconvert(),
          "out"_a.noconvert(), "stop"_a.none() = nb::none());
    m.def("leaves", &leaves<float>, "table"_a.noconvert(), "x"_a.noconvert());
    m.def("leaves", &leaves<double>, "table"_a.noconvert(), "x"_a.noconvert());
}

}  // namespace foresift
