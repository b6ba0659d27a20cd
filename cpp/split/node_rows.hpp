// The rows of one node as the splitter sees them: class and weight of each row, and the totals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace foresift {

/// A row with a whole weight (bootstrap copies): class in the low, weight in the high 16 bits.
struct CountCase {
    using Weight = std::uint32_t;
    static constexpr std::uint32_t kLimit = 1U << 16;  // classes and weights stay below this
    std::uint32_t packed;

    static CountCase make(std::uint32_t cls, double weight) noexcept {
        return {(static_cast<std::uint32_t>(weight) << 16) | cls};
    }
    std::uint32_t cls() const noexcept { return packed & 0xffffU; }
    Weight weight() const noexcept { return packed >> 16; }
};

/// A row with a real weight (sample weights, class weights, fractions of cases).
struct RealCase {
    using Weight = double;
    double value;
    std::uint32_t index;

    static RealCase make(std::uint32_t cls, double weight) noexcept { return {weight, cls}; }
    std::uint32_t cls() const noexcept { return index; }
    Weight weight() const noexcept { return value; }
};

/// A row of the table that lies in a node.
template <class Case>
struct Member {
    std::uint32_t row;
    Case of;  // its class and weight
};

/// Weight per class and in all.
template <class Weight>
struct Tally {
    std::vector<Weight> by_class;
    Weight total = 0;

    explicit Tally(std::size_t n_classes = 0) : by_class(n_classes) {}
    std::size_t n_classes() const noexcept { return by_class.size(); }
    void clear() noexcept {
        std::fill(by_class.begin(), by_class.end(), Weight{0});
        total = 0;
    }
    template <class Case> void add(const Case& c) noexcept {
        by_class[c.cls()] += c.weight();
        total += c.weight();
    }
};

/// Score of sending everything in `left` left.
template <class Score, class Weight>
double score_of(const Score& score, const Tally<Weight>& left, const Tally<Weight>& totals) noexcept {
    typename Score::Sum sum{};
    for (std::size_t c = 0; c < totals.n_classes(); ++c)
        sum += score.term(left.by_class[c], Weight(totals.by_class[c] - left.by_class[c]));
    return score.join(sum, left.total, Weight(totals.total - left.total));
}

/// A row's code in one column beside its case: what gets sorted.
template <class Case>
struct Item {
    std::uint32_t code;
    Case row;
};

/// Up to this many items, comparing all with all is fastest: no branch depends on the data.
inline constexpr std::size_t kRankSorted = 32;

/// Writes the items sorted by code, stable. Precondition: n <= kRankSorted, codes below 2^16.
template <class Case>
void rank_sort(std::span<const Item<Case>> items, std::span<Item<Case>> sorted) {
    std::int32_t keys[kRankSorted];
    const std::size_t n = items.size(), padded = (n + 3) & ~std::size_t{3};
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::int32_t>((items[i].code << 5) | i);
    for (std::size_t i = n; i < padded; ++i) keys[i] = std::numeric_limits<std::int32_t>::max();
    for (std::size_t i = 0; i < n; ++i) {
        std::int32_t rank = 0;
        for (std::size_t j = 0; j < padded; ++j) rank += keys[j] < keys[i];
        sorted[static_cast<std::size_t>(rank)] = items[i];
    }
}

/// Sorts items by code: one pass into about as many buckets as items, then each bucket by itself. Returns the
/// sorted items, which lie in `items` or in `spare`; both must be equally large.
/// Precondition: low <= code <= high for every item.
template <class Case>
std::span<Item<Case>> sort_by_code(std::span<Item<Case>> items, std::span<Item<Case>> spare,
                                   std::vector<std::uint32_t>& starts, std::uint32_t low, std::uint32_t high) {
    const auto insertion = [](Item<Case>* first, Item<Case>* last) {
        for (auto* i = first + 1; i < last; ++i) {
            const Item<Case> moving = *i;
            auto* hole = i;
            for (; hole > first && hole[-1].code > moving.code; --hole) *hole = hole[-1];
            *hole = moving;
        }
    };
    constexpr std::size_t kMostBuckets = 4096, kSmallBucket = 20;
    const std::size_t n = items.size();
    if (n <= 6) {
        insertion(items.data(), items.data() + n);
        return items;
    }
    if (n <= kRankSorted) {
        rank_sort<Case>(items, spare);
        return spare;
    }
    std::size_t buckets = 16;
    while (buckets < n && buckets < kMostBuckets) buckets *= 2;
    unsigned shift = 0;
    while ((std::size_t{high - low} >> shift) >= buckets) ++shift;
    buckets = ((high - low) >> shift) + 1;
    starts.assign(buckets + 1, 0);
    for (const auto& item : items) ++starts[((item.code - low) >> shift) + 1];
    for (std::size_t b = 1; b <= buckets; ++b) starts[b] += starts[b - 1];
    for (const auto& item : items) spare[starts[(item.code - low) >> shift]++] = item;
    if (shift == 0) return spare;
    // starts[b] is now where bucket b ends.
    for (std::size_t b = 0, begin = 0; b < buckets; begin = starts[b++]) {
        auto *first = spare.data() + begin, *last = spare.data() + starts[b];
        if (last - first > static_cast<std::ptrdiff_t>(kSmallBucket))
            std::sort(first, last, [](const auto& one, const auto& two) { return one.code < two.code; });
        else if (last - first > 1)
            insertion(first, last);
    }
    return spare;
}

/// Two buffers of items for sort_by_code, grown when needed and never cleared.
template <class Case>
class ItemBuffers {
public:
    Item<Case>* reserve(std::size_t n) {
        if (items_.size() < n) {
            items_.resize(n);
            spare_.resize(n);
        }
        return items_.data();
    }
    std::span<Item<Case>> sort(std::size_t n, std::uint32_t low, std::uint32_t high) {
        return sort_by_code(std::span(items_).first(n), std::span(spare_).first(n), starts_, low, high);
    }

private:
    std::vector<Item<Case>> items_, spare_;
    std::vector<std::uint32_t> starts_;
};

}  // namespace foresift
