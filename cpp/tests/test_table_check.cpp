// Node tables that no walk may meet: each way of damaging a good one is found.
#include "walk/table_check.hpp"

#include <stdexcept>

#include "tests/tools.hpp"

using namespace foresift;
using namespace foresift::tests;

namespace {

// Root: x0 <= 0.5. Right: three branches by category of x1.
struct Table {
    std::vector<Node> nodes = std::vector<Node>(6);
    std::vector<double> counts = std::vector<double>(12, 1.0);
    std::vector<std::int32_t> offsets{0, 3};
    std::vector<std::uint16_t> codes{4, 7, 9}, branches{0, 1, 2};

    Table() {
        split(0, 1, 2, 0);
        split(2, 3, 3, 1);
        nodes[2].category_set = 0;
    }
    void split(std::int32_t at, std::int32_t first, std::uint16_t n, std::int32_t feature) {
        Node& node = nodes[static_cast<std::size_t>(at)];
        node.first_child = first, node.n_children = n, node.feature = feature;
        for (std::int32_t k = 0; k < n; ++k) nodes[static_cast<std::size_t>(first + k)].parent = at;
    }
    TreeView view() const { return checked({nodes, counts, offsets, codes, branches, 2}); }
};

template <class Damage>
void refused(Damage damage) {
    Table table;
    try {
        damage(table);
        check_children(table.view());
    } catch (const std::invalid_argument&) {
        return;
    }
    assert(false);
}

void a_good_one() {
    Table table;
    TreeView view = table.view();
    check_children(view);
    assert(view.n_features == 2 && view.sets && !view.fractions);
    table.nodes[0].missing_branch = -1;
    assert(table.view().fractions);
    table.nodes.resize(1), table.counts.resize(2);
    table.nodes[0] = {};
    view = table.view();
    assert(view.n_features == 0 && !view.sets && !view.fractions);
}

void damaged_ones() {
    refused([](Table& t) { t.nodes.clear(), t.counts.clear(); });
    refused([](Table& t) { t.counts.pop_back(); });
    for (const std::int32_t first : {0, 5, 2, 1000000, 0x7fffffff}) refused([=](Table& t) { t.nodes[0].first_child = first; });
    refused([](Table& t) { t.nodes[2].first_child = 0; });     // a cycle
    refused([](Table& t) { t.nodes[1] = t.nodes[2]; });        // two nodes with the same children
    refused([](Table& t) { t.nodes[4].parent = 0; });
    refused([](Table& t) {  // the same where a row takes several ways
        t.nodes[4].parent = 0, t.nodes[0].missing_branch = -1;
        t.view();
        assert(false);
    });
    refused([](Table& t) { t.nodes[0].feature = -1; });
    refused([](Table& t) { t.nodes[1].feature = 0; });         // of a leaf
    refused([](Table& t) { t.nodes[0].n_children = 0; });
    refused([](Table& t) { t.nodes[0].n_children = 1; });
    refused([](Table& t) { t.nodes[2].n_children = 4; });
    refused([](Table& t) { t.nodes[2].majority_branch = 3; });
    for (const std::int32_t branch : {-2, 2, 1 << 20}) refused([=](Table& t) { t.nodes[0].missing_branch = branch; });
    refused([](Table& t) { t.nodes[1].missing_branch = 1; });  // of a leaf
    for (const std::int32_t set : {1, 7, 0x7fffffff}) refused([=](Table& t) { t.nodes[2].category_set = set; });
    refused([](Table& t) { t.offsets = {}; });
    refused([](Table& t) { t.offsets = {-1, 3}; });
    refused([](Table& t) { t.offsets = {2, 1}; });
    refused([](Table& t) { t.offsets = {0, 4}; });
    refused([](Table& t) { t.branches.pop_back(); });
    refused([](Table& t) { t.branches[1] = 3; });
    refused([](Table& t) { t.nodes[0].category_set = 0, t.branches = {0, 1, 1}; });  // one set, two nodes
}

void ways_up() {
    Table table;
    check_parents(table.nodes);
    for (const std::int32_t parent : {3, 4, -2, 1000000}) {
        table.nodes[3].parent = parent;
        try {
            check_parents(table.nodes);
            assert(false);
        } catch (const std::invalid_argument&) {
        }
    }
}

}  // namespace

int main() {
    a_good_one();
    damaged_ones();
    ways_up();
    return passed("table check");
}
