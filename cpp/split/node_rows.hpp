// The rows of one node as the splitter sees them: class or quantity and weight of each row, and what they add up to.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace foresift {

/// Weight per class and in all.
template <class Weight>
struct Tally {
    std::vector<Weight> by_class;
    Weight total = 0;

    explicit Tally(std::size_t n_classes = 0) : by_class(n_classes) {}
    std::size_t n_classes() const noexcept { return by_class.size(); }
    std::size_t n_present() const noexcept {
        return static_cast<std::size_t>(std::count_if(by_class.begin(), by_class.end(), [](Weight w) { return w > 0; }));
    }
    void clear() noexcept {
        std::fill(by_class.begin(), by_class.end(), Weight{0});
        total = 0;
    }
    /// Nothing, of as many classes as `other`.
    void clear_like(const Tally& other) {
        by_class.assign(other.n_classes(), Weight{0});
        total = 0;
    }
    template <class Case> void add(const Case& c) noexcept {
        by_class[c.cls()] += c.weight();
        total += c.weight();
    }
    /// What is left of `all` without `part`.
    void set_rest(const Tally& all, const Tally& part) {
        by_class.resize(all.n_classes());
        total = all.total - part.total;
        for (std::size_t c = 0; c < n_classes(); ++c) by_class[c] = all.by_class[c] - part.by_class[c];
    }
    /// Gains that differ by less than some 1e-13 of this may be equal.
    double unit() const noexcept { return 1; }
};

/// Weight of rows, and weighted sum and sum of squares of their quantity less `center`. Only those of the same center
/// can be added up. It lies near the mean of a node, so that nothing is lost for y = 1e9 + noise.
template <class Weight>
struct ValueSums {
    Weight total = 0;
    double sum = 0, squares = 0, center = 0;

    explicit ValueSums(std::size_t /*n_classes*/ = 0) {}
    void clear() noexcept { total = 0, sum = 0, squares = 0; }
    void clear_like(const ValueSums& other) noexcept {
        clear();
        center = other.center;
    }
    template <class Case> void add(const Case& c) noexcept {
        const double d = c.y() - center, part = double(c.weight()) * d;
        total += c.weight();
        sum += part;
        squares += part * d;
    }
    void add(const ValueSums& o) noexcept { total += o.total, sum += o.sum, squares += o.squares; }
    void remove(const ValueSums& o) noexcept { total -= o.total, sum -= o.sum, squares -= o.squares; }
    void set_rest(const ValueSums& all, const ValueSums& part) noexcept {
        *this = all;
        remove(part);
    }
    /// Less the center.
    double mean() const noexcept { return total > 0 ? sum / double(total) : 0.0; }
    /// Sum of squared differences from the mean.
    double spread() const noexcept { return std::max(0.0, squares - sum * mean()); }
    double unit() const noexcept { return total > 0 ? 10 * spread() / double(total) : 0.0; }
};

/// A row with a whole weight (bootstrap copies): class in the low, weight in the high 16 bits.
struct CountCase {
    using Weight = std::uint32_t;
    using Sums = Tally<Weight>;
    static constexpr bool kQuantity = false;
    static constexpr std::uint32_t kLimit = 1U << 16;  // classes and weights stay below this
    std::uint32_t packed;

    static CountCase make(std::uint32_t cls, double weight) noexcept {
        return {(static_cast<std::uint32_t>(weight) << 16) | cls};
    }
    CountCase weighing(double weight) const noexcept { return make(cls(), weight); }
    std::uint32_t cls() const noexcept { return packed & 0xffffU; }
    Weight weight() const noexcept { return packed >> 16; }
};

/// A row with a real weight (sample weights, class weights, fractions of cases).
struct RealCase {
    using Weight = double;
    using Sums = Tally<Weight>;
    static constexpr bool kQuantity = false;
    double value;
    std::uint32_t index;

    static RealCase make(std::uint32_t cls, double weight) noexcept { return {weight, cls}; }
    RealCase weighing(double weight) const noexcept { return make(cls(), weight); }
    std::uint32_t cls() const noexcept { return index; }
    Weight weight() const noexcept { return value; }
};

/// A row with a quantity and a whole or real weight. The quantity is stored as two 32-bit halves: aligned like a row
/// number, it leaves no padding.
template <class W>
struct ValueCase {
    using Weight = W;
    using Sums = ValueSums<Weight>;
    static constexpr bool kQuantity = true;
    W w;
    std::array<std::uint32_t, 2> bits;

    static ValueCase make(double y, double weight) noexcept {
        return {static_cast<W>(weight), std::bit_cast<std::array<std::uint32_t, 2>>(y)};
    }
    ValueCase weighing(double weight) const noexcept { return {static_cast<W>(weight), bits}; }
    double y() const noexcept { return std::bit_cast<double>(bits); }
    Weight weight() const noexcept { return w; }
};

/// What is to be predicted: a class or a quantity per row; one of the two is empty.
struct Response {
    std::span<const std::int32_t> classes;
    std::uint32_t n_classes = 0;
    std::span<const double> values;
    std::span<const std::uint32_t> order;  // the rows such that equal values are neighbours; empty: as they are

    Response() = default;
    Response(std::span<const std::int32_t> codes, std::uint32_t n) : classes(codes), n_classes(n) {}
    explicit Response(std::span<const double> quantity) : values(quantity) {}
    std::size_t size() const noexcept { return classes.size() + values.size(); }
    /// Numbers that describe a node: the weights of its classes, or the sum of the quantity.
    std::size_t n_outputs() const noexcept { return values.empty() ? n_classes : 1; }
    template <class Case> Case at(std::size_t row, double weight) const noexcept {
        if constexpr (Case::kQuantity)
            return Case::make(values[row], weight);
        else
            return Case::make(static_cast<std::uint32_t>(classes[row]), weight);
    }
};

/// A quantity divided by 2^scale_of(it) has squares that are neither huge nor tiny.
inline int scale_of(std::span<const double> values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return *high > *low ? std::ilogb(*high - *low) : 0;
}
inline std::vector<double> scaled(std::span<const double> values, int scale) {
    std::vector<double> result;
    for (const double y : values) result.push_back(std::ldexp(y, -scale));
    return result;
}

/// What weights must add up to where at least `limit` is wanted: fractions of rows may miss a whole by rounding, and
/// the order of the rows must not decide.
template <class Case>
constexpr double least_sum(double limit) noexcept {
    return Case::kQuantity && !std::is_integral_v<typename Case::Weight> ? limit * (1 - 1e-9) : limit;
}

/// A row of the table that lies in a node.
template <class Case>
struct Member {
    std::uint32_t row;
    Case of;  // its class or quantity, and its weight
};

/// Score of sending everything in `left` left.
template <class Score, class Weight>
double score_of(const Score& score, const Tally<Weight>& left, const Tally<Weight>& totals) noexcept {
    typename Score::Sum sum{};
    for (std::size_t c = 0; c < totals.n_classes(); ++c)
        sum += score.term(left.by_class[c], Weight(totals.by_class[c] - left.by_class[c]));
    return score.join(sum, left.total, Weight(totals.total - left.total));
}
template <class Score, class Weight>
double score_of(const Score& score, const ValueSums<Weight>& left, const ValueSums<Weight>& totals) noexcept {
    const double n = double(left.total);
    return score.of(n, left.sum - n * totals.mean(), double(totals.total));
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
