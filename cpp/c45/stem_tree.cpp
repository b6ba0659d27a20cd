#include "c45/stem_tree.hpp"

#include <algorithm>

#include "split/splitter.hpp"

namespace foresift {
namespace {

constexpr std::uint16_t kEveryBranch = 0xffff;

}  // namespace

StemTree::StemTree(const TrainingRows& rows, const Tree& grown, bool grouped, const Stop& stop)
    : rows_(rows), grown_(grown), poll_(stop), n_classes_(rows.n_classes), stems_(1), occurring_(rows.columns.size()) {
    for (std::uint32_t row = 0; row < rows.times.size(); ++row) {
        const double weight = rows.weights.empty() ? rows.times[row] : rows.times[row] * rows.weights[row];
        if (weight > 0) parts_.push_back({row, weight});
    }
    n_rows_ = parts_.size();
    struct Pair {
        std::int32_t from;
        std::uint32_t to;
    };
    std::vector<Pair> waiting{{0, 0}};
    while (!waiting.empty()) {
        const auto [from, to] = waiting.back();
        waiting.pop_back();
        const Node& node = grown.nodes[from];
        if (node.first_child < 0) continue;
        const auto feature = static_cast<std::size_t>(node.feature);
        const Column& column = rows_.columns[feature];
        Stem stem;
        stem.feature = node.feature;
        stem.first_child = static_cast<std::uint32_t>(stems_.size());
        if (column.nominal && grouped) {
            stem.n_children = node.n_children;
            stem.groups = node.category_set;
            stem.others = node.majority_branch;
            for (std::uint32_t b = 0; b < stem.n_children; ++b)
                waiting.push_back({node.first_child + static_cast<std::int32_t>(b), stem.first_child + b});
        } else if (column.nominal) {
            stem.n_children = static_cast<std::uint32_t>(occurring(feature).size());
            for (auto s = grown.set_offsets[node.category_set]; s < grown.set_offsets[node.category_set + 1]; ++s)
                waiting.push_back({node.first_child + grown.set_branches[s],
                                   stem.first_child + occurring_[feature].place[grown.set_codes[s]]});
        } else {
            stem.n_children = 2;
            stem.threshold = node.threshold;
            stem.cut = column.last_at_or_below(node.threshold, 0, column.n_values);
            waiting.push_back({node.first_child, stem.first_child});
            waiting.push_back({node.first_child + 1, stem.first_child + 1});
        }
        stems_[to] = stem;
        stems_.resize(stems_.size() + stem.n_children);
    }
    counts_.resize(stems_.size() * n_classes_);
    distribute(root());
}

// The codes of a column that occur in the rows.
const std::vector<std::uint16_t>& StemTree::occurring(std::size_t j) {
    Occurring& found = occurring_[j];
    if (!found.codes.empty()) return found.codes;
    const Column& column = rows_.columns[j];
    std::vector<std::uint8_t> seen(column.n_values + std::size_t{1});
    Codes::of(column).with([&](const auto* codes) {
        for (std::size_t i = 0; i < n_rows_; ++i) seen[codes[parts_[i].row]] = 1;
    });
    found.place.assign(column.n_values + std::size_t{1}, kEveryBranch);
    for (std::uint32_t code = 0; code < column.n_values; ++code) {
        if (!seen[code]) continue;
        found.place[code] = static_cast<std::uint16_t>(found.codes.size());
        found.codes.push_back(static_cast<std::uint16_t>(code));
    }
    return found.codes;
}

// The branch of every code of the nominal column that splits; the last is for missing values.
std::span<const std::uint16_t> StemTree::branch_of_codes(const Stem& stem) {
    const auto feature = static_cast<std::size_t>(stem.feature);
    if (stem.groups < 0) return occurring_[feature].place;
    of_code_.assign(rows_.columns[feature].n_values + std::size_t{1}, stem.others);
    of_code_.back() = kEveryBranch;
    for (auto s = grown_.set_offsets[stem.groups]; s < grown_.set_offsets[stem.groups + 1]; ++s)
        of_code_[grown_.set_codes[s]] = grown_.set_branches[s];
    return of_code_;
}

void StemTree::find_branches(const Range& at) {
    const Stem& stem = stems_[at.node];
    const auto feature = static_cast<std::size_t>(stem.feature);
    const Column& column = rows_.columns[feature];
    const std::size_t n = at.end - at.begin;
    branch_.resize(n);
    const auto of_code = column.nominal ? branch_of_codes(stem) : std::span<const std::uint16_t>();
    Codes::of(column).with([&](const auto* codes) {
        const Part* const parts = parts_.data() + at.begin;
        if (column.nominal)
            for (std::size_t i = 0; i < n; ++i) branch_[i] = of_code[codes[parts[i].row]];
        else
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint32_t code = codes[parts[i].row];
                branch_[i] = code == column.n_values ? kEveryBranch : code > stem.cut;
            }
    });
}

std::size_t StemTree::divide(const Range& at, std::vector<std::size_t>& ends) {
    const std::size_t n = at.end - at.begin, n_branches = stems_[at.node].n_children;
    poll_(n + n_branches);
    find_branches(at);
    spare_.assign(parts_.begin() + static_cast<std::ptrdiff_t>(at.begin),
                  parts_.begin() + static_cast<std::ptrdiff_t>(at.end));
    ends.assign(n_branches, 0);
    known_.assign(n_branches * n_classes_, 0.0);
    shares_.assign(n_branches, 0.0);
    std::size_t everywhere = 0;
    double known = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t b = branch_[i];
        if (b == kEveryBranch) {
            ++everywhere;
            continue;
        }
        ++ends[b];
        known += spare_[i].weight;
        shares_[b] += spare_[i].weight;
        known_[b * n_classes_ + static_cast<std::size_t>(rows_.target[spare_[i].row])] += spare_[i].weight;
    }
    some_missing_ = everywhere > 0;
    const std::size_t begin = some_missing_ ? parts_.size() : at.begin;
    places_.resize(n_branches);
    std::size_t end = begin;
    for (std::size_t b = 0; b < n_branches; ++b) {
        shares_[b] = known > 0 ? shares_[b] / known : 1.0 / double(n_branches);
        places_[b] = end;
        ends[b] = end += ends[b] + (shares_[b] > 0 ? everywhere : 0);
    }
    if (some_missing_) parts_.resize(end);
    for (std::size_t i = 0; i < n; ++i) {
        if (branch_[i] != kEveryBranch) {
            parts_[places_[branch_[i]]++] = spare_[i];
            continue;
        }
        for (std::size_t b = 0; b < n_branches; ++b)
            if (shares_[b] > 0) parts_[places_[b]++] = {spare_[i].row, spare_[i].weight * shares_[b]};
    }
    return begin;
}

Range StemTree::append_others(const Range& at, std::uint32_t child) {
    const std::size_t branch = child - stems_[at.node].first_child, begin = parts_.size();
    const double share = stems_[child].size / stems_[at.node].size;
    poll_(at.end - at.begin);
    find_branches(at);
    for (std::size_t i = 0; i < at.end - at.begin; ++i) {
        if (branch_[i] == branch) continue;
        const Part part = parts_[at.begin + i];
        parts_.push_back({part.row, branch_[i] == kEveryBranch ? part.weight * (1 - share) : part.weight});
    }
    return {child, begin, parts_.size()};
}

double StemTree::tally(const Range& at, std::span<double> counts) const noexcept {
    std::fill(counts.begin(), counts.end(), 0.0);
    double size = 0;
    for (std::size_t i = at.begin; i < at.end; ++i) {
        counts[static_cast<std::size_t>(rows_.target[parts_[i].row])] += parts_[i].weight;
        size += parts_[i].weight;
    }
    return size;
}

void StemTree::distribute(const Range& from) {
    descend(from, [&](const Range& at) {
        Stem& stem = stems_[at.node];
        stem.size = tally(at, counts(at.node));
        if (stem.is_leaf()) return true;
        double known = 0;
        for (const double weight : known_) known += weight;
        const double gain = known > 0 ? branch_gain(Criterion::entropy, known_, n_classes_) : 0.0;
        stem.gain = std::max(0.0, gain) * (known / stem.size);
        return true;
    });
}

double StemTree::value_threshold(const Stem& stem) {
    const auto feature = static_cast<std::size_t>(stem.feature);
    const auto& codes = occurring(feature);
    const auto after = std::upper_bound(codes.begin(), codes.end(), stem.cut);
    return rows_.columns[feature].value(*(after - 1));
}

void StemTree::write_split(const Stem& stem, bool value_thresholds, Node& node, Tree& out) {
    node.feature = stem.feature;
    node.n_children = static_cast<std::uint16_t>(stem.n_children);
    node.missing_branch = Split::kFractions;
    node.gain = stem.gain;
    for (std::uint32_t b = 1; b < stem.n_children; ++b)
        if (stems_[stem.first_child + b].size > stems_[stem.first_child + node.majority_branch].size)
            node.majority_branch = static_cast<std::uint16_t>(b);
    const auto feature = static_cast<std::size_t>(stem.feature);
    if (!rows_.columns[feature].nominal) {
        node.threshold = value_thresholds ? value_threshold(stem) : stem.threshold;
        return;
    }
    node.category_set = static_cast<std::int32_t>(out.set_offsets.size()) - 1;
    const auto of_code = branch_of_codes(stem);
    for (const auto code : occurring(feature)) {
        out.set_codes.push_back(code);
        out.set_branches.push_back(of_code[code]);
    }
    out.set_offsets.push_back(static_cast<std::int32_t>(out.set_codes.size()));
}

Tree StemTree::written(bool value_thresholds) {
    struct Pair {
        std::uint32_t from;
        std::int32_t to, parent;
    };
    Tree out;
    std::vector<Pair> waiting{{0, 0, -1}};
    out.nodes.resize(1);
    out.counts.resize(n_classes_);
    while (!waiting.empty()) {
        const auto [from, to, parent] = waiting.back();
        waiting.pop_back();
        const Stem& stem = stems_[from];
        Node node;
        node.parent = parent;
        node.size = stem.size > 0 ? stem.size : kNoWeight;
        for (std::size_t c = 0; c < n_classes_; ++c)
            out.counts[to * n_classes_ + c] =
                stem.size > 0 ? counts_[from * n_classes_ + c]
                              : out.counts[parent * n_classes_ + c] / out.nodes[parent].size * kNoWeight;
        if (!stem.is_leaf()) {
            node.first_child = static_cast<std::int32_t>(out.nodes.size());
            write_split(stem, value_thresholds, node, out);
            for (std::uint32_t b = stem.n_children; b-- > 0;)
                waiting.push_back({stem.first_child + b, node.first_child + static_cast<std::int32_t>(b), to});
            out.nodes.resize(out.nodes.size() + stem.n_children);
            out.counts.resize(out.nodes.size() * n_classes_);
        }
        out.nodes[to] = node;
    }
    return out;
}

}  // namespace foresift
