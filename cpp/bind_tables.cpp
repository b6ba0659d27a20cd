// The Python face of what reads node tables: prediction, trials below their own split, rounds of pruning.
#include "bindings.hpp"
#include "predict.hpp"
#include "ssv_rank.hpp"
#include "tree.hpp"

namespace foresift {
namespace {

template <class T> Matrix<T> matrix_of(const Rows<T>& x) { return {x.data(), x.shape(0), x.shape(1)}; }

// nodes (bytes), counts, set_offsets, set_codes, set_branches: the arrays of a NodeTable.
using TableArrays = std::tuple<Rows<std::uint8_t>, Rows<double>, Vector<std::int32_t>, Vector<std::uint16_t>,
                               Vector<std::uint16_t>>;

TreeView view_of(const TableArrays& arrays) {
    const auto& [nodes, counts, offsets, codes, branches] = arrays;
    if (nodes.shape(1) != sizeof(Node) || counts.shape(0) != nodes.shape(0) || nodes.shape(0) == 0)
        throw nb::value_error("not the arrays of a node table");
    return {{reinterpret_cast<const Node*>(nodes.data()), nodes.shape(0)},
            {counts.data(), counts.size()},
            span_of(offsets),
            span_of(codes),
            span_of(branches),
            counts.shape(1)};
}

NewArray<std::uint8_t> trials_below_own_split(const Rows<std::uint8_t>& nodes, const Rows<std::uint8_t>& tried) {
    if (nodes.shape(1) != sizeof(Node) || tried.shape(1) != sizeof(Tried)) throw nb::value_error("not nodes and trials");
    const std::span all(reinterpret_cast<const Node*>(nodes.data()), nodes.shape(0));
    const std::span trials(reinterpret_cast<const Tried*>(tried.data()), tried.shape(0));
    for (const auto& trial : trials)
        if (trial.node < 0 || static_cast<std::size_t>(trial.node) >= all.size()) throw nb::index_error("no such node");
    return to_numpy(below_own_split(all, trials));
}

// The round in which each node's split is deleted; -1 for a leaf.
NewArray<std::int32_t> ssv_rounds(const TableArrays& table) {
    const TreeView tree = view_of(table);
    if (tree.n_classes == 0) throw nb::value_error("a classification tree is needed");
    std::vector<std::int32_t> result(tree.nodes.size(), -1);
    {
        const nb::gil_scoped_release unlocked;
        const auto splits = splits_of(tree.nodes, tree.counts, tree.n_classes);
        const auto rounds = rounds_of_pruning(splits);
        for (std::size_t k = 0; k < splits.size(); ++k) result[splits[k].node] = rounds[k];
    }
    return to_numpy(std::move(result));
}

template <class Real>
void add_proba(const std::vector<TableArrays>& tables, const Rows<Real>& x,
               const std::optional<Vector<std::uint32_t>>& rows,
               nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out, const StopFlag* stop) {
    std::vector<TreeView> trees;
    for (const auto& table : tables) trees.push_back(view_of(table));
    for (const auto& tree : trees)
        if (tree.n_classes != out.shape(1) || out.shape(0) != x.shape(0)) throw nb::value_error("wrong shape of out");
    const nb::gil_scoped_release unlocked;
    const auto matrix = matrix_of(x);
    add_probabilities<Real>(trees, matrix, any_missing(matrix), rows ? span_of(*rows) : std::span<const std::uint32_t>(),
                            {out.data(), out.size()}, stop_check(stop));
}

template <class Real>
NewArray<std::int32_t> leaves(const TableArrays& table, const Rows<Real>& x) {
    const TreeView tree = view_of(table);
    std::vector<std::int32_t> result(x.shape(0));
    {
        const nb::gil_scoped_release unlocked;
        find_leaves(tree, matrix_of(x), any_missing(matrix_of(x)), {}, result);
    }
    return to_numpy(std::move(result));
}

}  // namespace

void bind_node_tables(nb::module_& m) {
    m.def("below_own_split", &trials_below_own_split, "nodes"_a, "tried"_a);
    m.def("ssv_rounds", &ssv_rounds, "table"_a);
    m.def("add_proba", &add_proba<float>, "tables"_a, "x"_a.noconvert(), "rows"_a.none(), "out"_a.noconvert(), "stop"_a.none() = nb::none());
    m.def("add_proba", &add_proba<double>, "tables"_a, "x"_a.noconvert(), "rows"_a.none(), "out"_a.noconvert(), "stop"_a.none() = nb::none());
    m.def("leaves", &leaves<float>, "table"_a, "x"_a.noconvert());
    m.def("leaves", &leaves<double>, "table"_a, "x"_a.noconvert());
}

}  // namespace foresift
