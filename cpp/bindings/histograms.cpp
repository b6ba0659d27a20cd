// The Python face of the histogram engine: codes of numbers, histograms of a level, splits by histograms.
#include "bindings/arrays.hpp"
#include "hist/code_values.hpp"
#include "hist/histogram_search.hpp"
#include "hist/level_sums.hpp"

namespace foresift {
namespace {

using Numbers = Vector<std::uint32_t>;

std::vector<std::uint32_t> own(const Numbers& given) { return {span_of(given).begin(), span_of(given).end()}; }

// That counts up from 0, in steps of at least 0, to `end`.
void check_begins(const char* name, std::span<const std::uint32_t> begins, std::size_t end) {
    if (begins.empty() || begins.front() != 0 || !std::ranges::is_sorted(begins) || begins.back() != end)
        refuse(std::string(name) + " must rise from 0 to " + std::to_string(end) + ".");
}

void check_tree(const LevelPlan& plan, std::size_t tree) {
    const std::size_t begin = plan.nodes_of[tree], n_nodes = plan.nodes_of[tree + 1] - begin, n_slots = plan.n_slots[tree];
    if (n_nodes == 0) refuse("A tree needs a root.");
    check_range<std::uint64_t>("depth", plan.depth[tree], 0, 64);
    check_range<std::uint64_t>("n_slots", n_slots, 0, n_nodes);
    check_memory("n_slots", (n_slots + 1) * plan.n_sums(), kCodes, std::size_t{1} << 31);
    for (std::size_t node = begin; node < begin + n_nodes; ++node) {
        if (plan.slot[node] != LevelPlan::kNoSlot && plan.slot[node] >= n_slots) refuse("slot names one that is not there.");
        for (std::size_t code = 0; code < kCodes; ++code)
            if (std::size_t{plan.first_child[node]} + plan.child_of[node * kCodes + code] >= n_nodes)
                refuse("child_of names a child that is not there.");
    }
}

void check_plan(const LevelPlan& plan) {
    const std::size_t n_trees = plan.n_slots.size(), n_nodes = plan.node_column.size();
    check_range<std::uint64_t>("The number of columns", plan.width.size(), 1, kMostColumns);
    for (const auto width : plan.width) check_range<std::uint64_t>("width", width, 1, kCodes);
    check_range<std::uint64_t>("n_codes", plan.n_codes, 1, std::uint64_t{1} << 16);
    if (!plan.scores.empty()) check_length("scores", plan.scores.size(), plan.n_codes);
    for (const auto score : plan.scores) check_range<std::uint64_t>("scores", score, 0, LevelPlan::kMaxScore - 1);
    check_length("nodes_of", plan.nodes_of.size(), n_trees + 1);
    check_length("requests_of", plan.requests_of.size(), n_trees + 1);
    check_length("depth", plan.depth.size(), n_trees);
    check_begins("nodes_of", plan.nodes_of, n_nodes);
    check_begins("requests_of", plan.requests_of, plan.request_column.size());
    check_length("first_child", plan.first_child.size(), n_nodes);
    check_length("slot", plan.slot.size(), n_nodes);
    check_length("child_of", plan.child_of.size(), n_nodes * kCodes);
    check_below("node_column", std::span(plan.node_column), plan.width.size());
    check_below("request_column", std::span(plan.request_column), plan.width.size());
    check_length("request_shadow", plan.request_shadow.size(), plan.request_column.size());
    for (const auto shadow : plan.request_shadow) check_range<std::uint64_t>("request_shadow", shadow, 0, 1 << 20);
    for (std::size_t tree = 0; tree < n_trees; ++tree) check_tree(plan, tree);
}

std::size_t sums_of_tree(const LevelPlan& plan, std::size_t tree) {
    std::size_t n = 0;
    for (auto r = plan.requests_of[tree]; r < plan.requests_of[tree + 1]; ++r) n += plan.width[plan.request_column[r]];
    return n * plan.n_slots[tree] * plan.n_sums();
}

std::size_t sums_of(const LevelPlan& plan) {
    std::size_t n = 0;
    for (std::size_t tree = 0; tree < plan.n_trees(); ++tree) n += sums_of_tree(plan, tree);
    return n;
}

std::size_t counts_of(const LevelPlan& plan) {
    std::size_t n = 0;
    for (const auto slots : plan.n_slots) n += slots;
    return n * plan.n_codes;
}

LevelPlan make_plan(const Numbers& nodes_of, const Numbers& requests_of, const Numbers& node_column,
                    const Numbers& first_child, const Vector<std::uint8_t>& child_of, const Numbers& slot,
                    const Numbers& n_slots, const Numbers& depth, const Numbers& request_column,
                    const Numbers& request_shadow, const Numbers& width, std::uint32_t n_codes, const Numbers& scores,
                    std::uint64_t seed) {
    LevelPlan plan{own(nodes_of), own(requests_of), own(node_column), own(first_child),
                   {span_of(child_of).begin(), span_of(child_of).end()}, own(slot), own(n_slots), own(depth),
                   own(request_column), own(request_shadow), own(width), n_codes, own(scores), seed};
    check_plan(plan);
    return plan;
}

using Bytes = Rows<std::uint8_t>;
using Sums = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<std::int64_t> writable(const char* name, const Sums& array, std::size_t wanted) {
    check_aligned<std::int64_t>(array.data());
    check_length(name, array.size(), wanted);
    return {array.data(), array.size()};
}

void check_number(std::uint64_t number) {
    check_range<std::uint64_t>("The number of a block", number, 0, (std::uint64_t{1} << 31) - 2);
}

void add(const LevelPlan& plan, const Bytes& codes, const Vector<std::uint16_t>& target, std::uint64_t number,
         const Sums& sums, const Sums& counts, const StopFlag* flag) {
    const std::size_t n_rows = target.size();
    check_range<std::uint64_t>("The number of rows of a block", n_rows, 0, kMaxBlockRows);
    check_length("codes", codes.shape(0), plan.width.size());
    check_length("The rows of codes", codes.shape(1), n_rows);
    check_below("target", span_of(target), plan.n_codes);
    check_number(number);
    const auto to = writable("sums", sums, sums_of(plan)), to_counts = writable("counts", counts, counts_of(plan));
    check_apart(to.data(), to.size_bytes(), to_counts.data(), to_counts.size_bytes());
    check_apart(to.data(), to.size_bytes(), codes.data(), codes.size());
    check_apart(to_counts.data(), to_counts.size_bytes(), codes.data(), codes.size());
    for (const auto& out : {to, to_counts})  // trees read the target again, after the first has written
        check_apart(out.data(), out.size_bytes(), target.data(), n_rows * sizeof(std::uint16_t));
    const nb::gil_scoped_release unlocked;
    add_level({values_of(codes), span_of(target), number}, plan, to, to_counts, stop_check(flag));
}

// Numbers of a histogram are added up in 64 bits.
void check_sums(const LevelPlan& plan, std::size_t tree, std::span<const std::int64_t> sums) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    for (auto r = plan.requests_of[tree]; r < plan.requests_of[tree + 1]; ++r) {
        const std::size_t size = plan.width[plan.request_column[r]] * plan.n_sums();
        for (std::size_t slot = 0; slot < plan.n_slots[tree]; ++slot, sums = sums.subspan(size)) {
            std::int64_t total = 0;
            for (const auto count : sums.first(size)) {
                if (count < 0) refuse("A histogram must not have negative numbers.");
                if (count > most - total) refuse("The numbers of a histogram are too large: they would overflow.");
                total += count;
            }
        }
    }
}

nb::tuple search(const LevelPlan& plan, std::size_t tree, const Vector<std::int64_t>& sums,
                 const Vector<std::uint8_t>& nominal, bool multiway, double min_share, const StopFlag* flag) {
    check_length("sums", sums.size(), sums_of(plan));
    check_length("nominal", nominal.size(), plan.width.size());
    check_range("min_share", min_share, 0.0, 0.5);
    if (tree >= plan.n_trees()) refuse("There is no such tree.");
    std::size_t begin = 0;
    for (std::size_t before = 0; before < tree; ++before) begin += sums_of_tree(plan, before);
    const auto own_sums = span_of(sums).subspan(begin, sums_of_tree(plan, tree));
    check_sums(plan, tree, own_sums);
    LevelGains found;
    {
        const nb::gil_scoped_release unlocked;
        SplitOptions options;
        options.criterion = plan.scores.empty() ? Criterion::entropy : Criterion::variance;
        options.multiway = multiway;
        options.min_share = min_share;
        found = search_level(plan, tree, own_sums, span_of(nominal), options, stop_check(flag));
    }
    return nb::make_tuple(to_numpy(std::move(found.gains)), to_numpy(std::move(found.n_children)),
                          to_numpy(std::move(found.child_of), kCodes), to_numpy(std::move(found.child_rows)));
}

template <class Real>
NewArray<std::uint8_t> code(const Strided<Real>& values, const Vector<double>& cuts, const Numbers& begins) {
    const std::size_t n_rows = values.shape(0), n_columns = values.shape(1);
    check_range<std::uint64_t>("The number of rows", n_rows, 0, kMostRows);
    check_range<std::uint64_t>("The number of columns", n_columns, 0, kMostColumns);
    check_memory("values", n_rows, n_columns);
    check_aligned<Real>(values.data());
    check_length("begins", begins.size(), n_columns + 1);
    check_begins("begins", span_of(begins), cuts.size());
    for (std::size_t j = 0; j < n_columns; ++j)
        check_range<std::uint64_t>("The number of cut points", span_of(begins)[j + 1] - span_of(begins)[j], 0, kCodes - 2);
    std::vector<std::uint8_t> codes(n_rows * n_columns);
    {
        const nb::gil_scoped_release unlocked;
        code_values<Real>({values.data(), n_rows, n_columns, values.stride(0), values.stride(1)},
                          {span_of(cuts), span_of(begins)}, codes);
    }
    auto* owned = new std::vector<std::uint8_t>(std::move(codes));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
    const std::size_t shape[2] = {n_columns, n_rows};
    return NewArray<std::uint8_t>(owned->data(), 2, shape, owner);
}

NewArray<std::uint32_t> permutation(std::uint64_t seed, std::uint64_t shadow, std::uint64_t number, std::size_t n_rows) {
    check_range<std::uint64_t>("The number of rows of a block", n_rows, 0, kMaxBlockRows);
    check_number(number);
    const std::vector<std::uint16_t> target(n_rows);
    const auto rows = block_permutation(seed, shadow, {{}, target, number});
    return to_numpy(std::vector<std::uint32_t>(rows.begin(), rows.end()));
}

}  // namespace

void bind_histograms(nb::module_& m) {
    nb::class_<LevelPlan>(m, "LevelPlan", "Which histograms to make at the nodes of trees.")
        .def_static("make", &make_plan, "nodes_of"_a.noconvert(), "requests_of"_a.noconvert(), "node_column"_a.noconvert(),
                    "first_child"_a.noconvert(), "child_of"_a.noconvert(), "slot"_a.noconvert(), "n_slots"_a.noconvert(),
                    "depth"_a.noconvert(), "request_column"_a.noconvert(), "request_shadow"_a.noconvert(),
                    "width"_a.noconvert(), "n_codes"_a, "scores"_a.noconvert(), "seed"_a)
        .def_prop_ro("n_sums", &sums_of, "Numbers of all histograms together.")
        .def_prop_ro("n_counts", &counts_of, "Numbers of target codes of all slots.")
        .def("add", &add, "codes"_a.noconvert(), "target"_a.noconvert(), "number"_a, "sums"_a.noconvert(),
             "counts"_a.noconvert(), "stop"_a.none() = nb::none(), "Add the rows of a block.")
        .def("search", &search, "tree"_a, "sums"_a.noconvert(), "nominal"_a.noconvert(), "multiway"_a, "min_share"_a,
             "stop"_a.none() = nb::none(),
             "Of one tree: gains of requests at slots; of those for columns themselves the number of children, the child"
             " of every code, and how many rows the children have.");
    m.def("code_values", &code<float>, "values"_a.noconvert(), "cuts"_a.noconvert(), "begins"_a.noconvert(),
          "Codes of numbers, column by column: how many cut points lie below, one more than there are for NaN.");
    m.def("code_values", &code<double>, "values"_a.noconvert(), "cuts"_a.noconvert(), "begins"_a.noconvert());
    m.def("block_permutation", &permutation, "seed"_a, "shadow"_a, "number"_a, "n_rows"_a,
          "The row of a block whose values each row has in a shadow.");
}

}  // namespace foresift
