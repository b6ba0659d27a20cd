#include "relief.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tree.hpp"

namespace foresift {
namespace {

constexpr std::size_t kLine = 32;      // bytes compared at a time
constexpr std::size_t kTile = 512;     // rows estimated at a time
constexpr std::size_t kTogether = 16;  // rows whose distances to a tile are found while the tile is at hand
constexpr double kTie = 1e-12;         // distances that differ by less, relative to the number of features, are equal
constexpr std::uint32_t kMostCodes = 254;             // of a nominal feature that has a byte of its own for each
constexpr std::uint8_t kMissing = 255, kHalf = 128;   // bytes of missing values, nominal and numeric

std::size_t padded(std::size_t n) { return (n + kLine - 1) / kLine * kLine; }

// Sum of absolute differences; `size` is a multiple of kLine.
std::uint32_t sum_of_differences(const std::uint8_t* a, const std::uint8_t* b, std::size_t size) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < size; i += kLine)
        for (std::size_t k = 0; k < kLine; ++k) sum += static_cast<std::uint32_t>(std::abs(int{a[i + k]} - int{b[i + k]}));
    return sum;
}

// Number of bytes that differ. A missing byte differs from every other, also from a missing one.
std::uint32_t number_of_differences(const std::uint8_t* a, const std::uint8_t* b, std::size_t size) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < size; i += kLine) {
        std::uint8_t part = 0;
        for (std::size_t k = 0; k < kLine; ++k)
            part = static_cast<std::uint8_t>(part + ((a[i + k] != b[i + k]) | (a[i + k] == kMissing)));
        sum += part;
    }
    return sum;
}

}  // namespace

Relief::Relief(std::span<const double> rows, std::span<const std::uint32_t> n_values,
               std::span<const std::int32_t> target, std::uint32_t n_classes, std::span<const double> weights,
               const ReliefOptions& options)
    : rows_(rows), n_values_(n_values), target_(target), weights_(weights), options_(options),
      n_features_(n_values.size()), class_weight_(n_classes), order_(target.size()), place_(target.size()),
      class_begin_(n_classes + 1), offset_(target.size()), error_(target.size()) {
    const std::size_t n = n_rows();
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return target_[a] < target_[b]; });
    for (std::uint32_t i = 0; i < n; ++i) place_[order_[i]] = i;
    for (std::uint32_t row = 0; row < n; ++row) {
        class_weight_[target_[row]] += weight(row);
        ++class_begin_[target_[row] + 1];
    }
    std::partial_sum(class_begin_.begin(), class_begin_.end(), class_begin_.begin());
    for (std::uint32_t f = 0; f < n_features_; ++f) (n_values_[f] ? nominal_ : numeric_).push_back(f);
    plain_ = nominal_.empty();
    numeric_width_ = padded(numeric_.size());
    width_ = numeric_width_ + padded(nominal_.size());
    bytes_.resize(n * width_);
    for (std::size_t place = 0; place < n; ++place) write_bytes(place);
    least_offset_ = *std::min_element(offset_.begin(), offset_.end());
    most_error_ = *std::max_element(error_.begin(), error_.end());
}

// The bytes of one row, and by how much they mislead.
void Relief::write_bytes(std::size_t place) {
    const double* values = &rows_[order_[place] * n_features_];
    std::uint8_t* out = &bytes_[place * width_];
    double offset = 0, error = 1e-12 * double(n_features_);  // sums in double precision are rounded too
    for (std::size_t k = 0; k < numeric_.size(); ++k) {
        const double v = values[numeric_[k]];
        if (std::isnan(v)) {
            // Half way: the other value, too, differs from it by half less than it may from a missing one.
            plain_ = false;
            out[k] = kHalf;
            offset += 0.5;
            error += kHalf / 255.0 - 0.5;
            continue;
        }
        out[k] = static_cast<std::uint8_t>(std::lround(255 * v));
        error += std::abs(out[k] / 255.0 - v);
    }
    for (std::size_t k = 0; k < nominal_.size(); ++k) {
        const double v = values[nominal_[k]];
        const std::uint32_t n = n_values_[nominal_[k]];
        std::uint8_t& byte = out[numeric_width_ + k];
        if (std::isnan(v)) {
            byte = kMissing;
            offset -= 1.0 / n;
            error += 1.0 / n;
            continue;
        }
        const auto code = static_cast<std::uint32_t>(v);
        byte = static_cast<std::uint8_t>(code % kMostCodes);
        if (n > kMostCodes) error += 0.5;  // two codes may share a byte
    }
    offset_[place] = offset;
    error_[place] = error;
}

double Relief::difference(std::size_t feature, double a, double b) const noexcept {
    if (const auto n = n_values_[feature]; n > 0) {
        if (std::isnan(a) || std::isnan(b)) return 1.0 - 1.0 / n;
        return a != b;
    }
    if (std::isnan(a)) return std::isnan(b) ? 1.0 : std::max(b, 1 - b);
    if (std::isnan(b)) return std::max(a, 1 - a);
    return std::abs(a - b);
}

double Relief::distance(std::uint32_t a, std::uint32_t b) const noexcept {
    const double *x = &rows_[a * n_features_], *y = &rows_[b * n_features_];
    constexpr std::size_t kLanes = 8;  // sums side by side, for vectors
    double sums[kLanes] = {}, sum = 0;
    std::size_t f = 0;
    if (plain_)
        for (; f + kLanes <= n_features_; f += kLanes)
            for (std::size_t k = 0; k < kLanes; ++k) sums[k] += std::abs(x[f + k] - y[f + k]);
    for (; f < n_features_; ++f) sum += difference(f, x[f], y[f]);
    return std::accumulate(std::begin(sums), std::end(sums), sum);
}

// Adds to the candidates those of one class that may be among the nearest.
void Relief::collect(std::uint32_t row, std::size_t of_class, std::span<const std::uint32_t> estimates,
                     Scratch& scratch) const {
    auto& [candidates, nearest, heap] = scratch;
    const double offset = offset_[place_[row]], error = error_[place_[row]], wanted = options_.n_neighbors;
    heap.clear();
    double inside = 0, limit = std::numeric_limits<double>::infinity();
    std::uint32_t quick_limit = std::numeric_limits<std::uint32_t>::max();  // above it, no row can be inside the limit
    for (std::size_t i = class_begin_[of_class]; i < class_begin_[of_class + 1]; ++i) {
        if (estimates[i] > quick_limit) continue;
        const double estimate = estimates[i] * (1.0 / 255) + offset + offset_[i], slack = error + error_[i];
        if (!(estimate - slack <= limit)) continue;
        const std::uint32_t other = order_[i];
        // A row is not its own neighbour, but its repetitions are.
        const double w = other == row ? weight(row) - 1 : weight(other);
        if (!(w > 0)) continue;
        candidates.push_back({estimate - slack, other, w});
        heap.emplace_back(estimate + slack, w);
        std::push_heap(heap.begin(), heap.end());
        inside += w;
        while (inside - heap.front().second >= wanted) {
            inside -= heap.front().second;
            std::pop_heap(heap.begin(), heap.end());
            heap.pop_back();
        }
        if (inside < wanted) continue;
        limit = heap.front().first;
        quick_limit = static_cast<std::uint32_t>(255 * std::max(0.0, limit - offset - least_offset_ + error + most_error_)) + 1;
    }
    if (inside >= wanted) std::erase_if(candidates, [&](const Near& near) { return near.distance > limit; });
}

// Picks the nearest among the candidates by exact distances; their shares sum to one.
void Relief::settle(std::uint32_t row, Scratch& scratch) const {
    auto& candidates = scratch.candidates;
    for (auto& near : candidates) near.distance = distance(row, near.row);
    std::sort(candidates.begin(), candidates.end(), [](const Near& a, const Near& b) {
        return std::pair(a.distance, a.row) < std::pair(b.distance, b.row);
    });
    scratch.nearest.clear();
    const double tie = kTie * double(n_features_);
    double taken = 0;
    for (std::size_t i = 0; i < candidates.size() && taken < options_.n_neighbors;) {
        std::size_t last = i;
        double weight = 0;
        for (; last < candidates.size() && candidates[last].distance - candidates[i].distance <= tie; ++last)
            weight += candidates[last].share;
        const double part = std::min(1.0, (options_.n_neighbors - taken) / weight);
        for (; i < last; ++i) scratch.nearest.push_back({0, candidates[i].row, candidates[i].share * part});
        taken += weight * part;
    }
    for (auto& near : scratch.nearest) near.share /= taken;
}

void Relief::count(std::uint32_t row, double factor, const Scratch& scratch, std::span<double> sums) const {
    const double* x = &rows_[row * n_features_];
    for (const auto& near : scratch.nearest) {
        const double* y = &rows_[near.row * n_features_];
        const double by = factor * near.share;
        if (plain_)
            for (std::size_t f = 0; f < n_features_; ++f) sums[f] += by * std::abs(x[f] - y[f]);
        else
            for (std::size_t f = 0; f < n_features_; ++f) sums[f] += by * difference(f, x[f], y[f]);
    }
}

// The nearest hits and misses of `row`, whose distances to all rows were estimated, and what they say of the features.
void Relief::judge(std::uint32_t row, std::span<const std::uint32_t> estimates, Scratch& scratch,
                   std::span<double> sums) const {
    const double total = std::accumulate(class_weight_.begin(), class_weight_.end(), 0.0);
    const auto own = static_cast<std::size_t>(target_[row]);
    const auto use = [&](double factor) {
        if (scratch.candidates.empty()) return;
        settle(row, scratch);
        count(row, weight(row) * factor, scratch, sums);
        scratch.candidates.clear();
    };
    collect(row, own, estimates, scratch);
    use(-1.0);
    for (std::size_t c = 0; c < class_weight_.size(); ++c) {
        if (c == own) continue;
        collect(row, c, estimates, scratch);
        if (!options_.pool_misses) use(class_weight_[c] / (total - class_weight_[own]));
    }
    if (options_.pool_misses) use(1.0);
}

void Relief::add(std::span<const std::uint32_t> sample, std::span<double> sums,
                 const std::function<bool()>& stop) const {
    const std::size_t n = n_rows();
    Scratch scratch;
    std::vector<std::uint32_t> estimates(kTogether * n);
    for (std::size_t begin = 0; begin < sample.size(); begin += kTogether) {
        const auto together = sample.subspan(begin, std::min(kTogether, sample.size() - begin));
        for (std::size_t first = 0; first < n; first += kTile) {
            if (stop && stop()) throw Interrupted();
            const std::size_t end = std::min(first + kTile, n);
            for (std::size_t t = 0; t < together.size(); ++t) {
                const std::uint8_t* bytes = bytes_of(place_[together[t]]);
                for (std::size_t i = first; i < end; ++i)
                    estimates[t * n + i] =
                        sum_of_differences(bytes, bytes_of(i), numeric_width_) +
                        255 * number_of_differences(bytes + numeric_width_, bytes_of(i) + numeric_width_,
                                                    width_ - numeric_width_);
            }
        }
        for (std::size_t t = 0; t < together.size(); ++t)
            judge(together[t], std::span(estimates).subspan(t * n, n), scratch, sums);
    }
}

}  // namespace foresift
