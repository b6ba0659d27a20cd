#include "hist/histogram_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace foresift {
namespace {

constexpr std::int64_t kTabled = std::int64_t{1} << 16;

// x log2 x of whole numbers below kTabled.
const double* tabled_xlog2x() {
    static const std::vector<double> table = [] {
        std::vector<double> values(static_cast<std::size_t>(kTabled));
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = xlog2x(double(k));
        return values;
    }();
    return table.data();
}

// Rows of some codes of a histogram, by class; the score of a division in two is n times the gain, up to a constant.
class ClassCounts {
public:
    ClassCounts(std::uint32_t n_classes) : n_classes_(n_classes), total_(n_classes), left_(n_classes) {}

    void start(std::span<const std::int64_t> sums, std::uint32_t width) {
        sums_ = sums, width_ = width, n_ = 0;
        for (std::size_t c = 0; c < n_classes_; ++c) {
            const auto row = sums.subspan(c * width, width);
            n_ += total_[c] = std::accumulate(row.begin(), row.end(), std::int64_t{0});
        }
        tie_ = 1e-13 * (1 + xlog2x_of(n_));
        inside_ = 0;
        for (const auto n : total_) inside_ += xlog2x_of(n);
        clear();
    }
    void clear() {
        std::fill(left_.begin(), left_.end(), 0);
        n_left_ = 0;
    }
    std::int64_t rows_at(std::uint32_t code) const noexcept {
        std::int64_t n = 0;
        for (std::size_t c = 0; c < n_classes_; ++c) n += sums_[c * width_ + code];
        return n;
    }
    void to_left(std::uint32_t code) {
        for (std::size_t c = 0; c < n_classes_; ++c) {
            const std::int64_t n = sums_[c * width_ + code];
            left_[c] += n;
            n_left_ += n;
        }
    }
    double score() const {
        double inside = 0;
        for (std::size_t c = 0; c < n_classes_; ++c) inside += xlog2x_of(left_[c]) + xlog2x_of(total_[c] - left_[c]);
        return inside - (xlog2x_of(n_left_) + xlog2x_of(n_ - n_left_));
    }
    // Sends codes left, one after the other, and offers each cut: offer(code, rows on the left, score).
    template <class Offer> void scan(std::uint32_t n_values, Offer offer) {
        if (n_ < kTabled)
            scan_by(n_values, offer, [table = tabled_](std::int64_t x) { return table[x]; });
        else
            scan_by(n_values, offer, [this](std::int64_t x) { return xlog2x_of(x); });
    }
    double unsplit() const { return inside_ - xlog2x_of(n_); }
    double tie() const noexcept { return tie_; }
    std::int64_t n() const noexcept { return n_; }
    std::int64_t n_left() const noexcept { return n_left_; }

private:
    template <class Offer, class XLogX> void scan_by(std::uint32_t n_values, Offer offer, XLogX xlogx) {
        if (n_classes_ == 2) {
            const std::int64_t *const zeros = sums_.data(), *const ones = zeros + width_, n = n_;
            const std::int64_t n_zeros = total_[0], n_ones = total_[1];
            std::int64_t left_zeros = left_[0], left_ones = left_[1];
            for (std::uint32_t code = 0; code < n_values; ++code) {
                if (zeros[code] + ones[code] == 0) continue;
                left_zeros += zeros[code], left_ones += ones[code];
                const std::int64_t left = left_zeros + left_ones;
                offer(code, left, xlogx(left_zeros) + xlogx(n_zeros - left_zeros) + xlogx(left_ones) +
                                      xlogx(n_ones - left_ones) - (xlogx(left) + xlogx(n - left)));
            }
            return;
        }
        double inside = 0;
        for (std::size_t c = 0; c < n_classes_; ++c) inside += xlogx(left_[c]) + xlogx(total_[c] - left_[c]);
        for (std::uint32_t code = 0; code < n_values; ++code) {
            std::int64_t more = 0;
            for (std::size_t c = 0; c < n_classes_; ++c) {
                const std::int64_t n = sums_[c * width_ + code];
                if (n == 0) continue;
                inside -= xlogx(left_[c]) + xlogx(total_[c] - left_[c]);
                left_[c] += n, more += n;
                inside += xlogx(left_[c]) + xlogx(total_[c] - left_[c]);
            }
            if (more == 0) continue;
            n_left_ += more;
            offer(code, n_left_, inside - (xlogx(n_left_) + xlogx(n_ - n_left_)));
        }
    }
    double xlog2x_of(std::int64_t x) const { return x < kTabled ? tabled_[x] : xlog2x(double(x)); }

    const double* tabled_ = tabled_xlog2x();
    std::size_t n_classes_;
    std::span<const std::int64_t> sums_;
    std::uint32_t width_ = 0;
    std::int64_t n_ = 0, n_left_ = 0;
    std::vector<std::int64_t> total_, left_;
    double inside_ = 0, tie_ = 0;
};

// The same of a quantity, by the sums of its scores.
class ScoreSums {
public:
    ScoreSums(std::uint32_t) {}

    void start(std::span<const std::int64_t> sums, std::uint32_t width) {
        sums_ = sums, width_ = width;
        n_ = std::accumulate(sums.begin(), sums.begin() + width, std::int64_t{0});
        mean_ = n_ > 0 ? double(std::accumulate(sums.begin() + width, sums.end(), std::int64_t{0})) / double(n_) : 0.0;
        clear();
    }
    void clear() { n_left_ = 0, sum_left_ = 0; }
    std::int64_t rows_at(std::uint32_t code) const noexcept { return sums_[code]; }
    void to_left(std::uint32_t code) { n_left_ += sums_[code], sum_left_ += sums_[width_ + code]; }
    double score() const {
        const double part = double(sum_left_) - double(n_left_) * mean_, left = double(n_left_), right = double(n_ - n_left_);
        return left > 0 && right > 0 ? part * part * (double(n_) / (left * right)) : 0.0;
    }
    template <class Offer> void scan(std::uint32_t n_values, Offer offer) {
        for (std::uint32_t code = 0; code < n_values; ++code) {
            if (sums_[code] == 0) continue;
            to_left(code);
            offer(code, n_left_, score());
        }
    }
    double unsplit() const { return 0; }
    double tie() const { return 0; }
    std::int64_t n() const noexcept { return n_; }
    std::int64_t n_left() const noexcept { return n_left_; }

private:
    std::span<const std::int64_t> sums_;
    std::uint32_t width_ = 0;
    std::int64_t n_ = 0, n_left_ = 0, sum_left_ = 0;
    double mean_ = 0;
};

// The best cut of a column with an order; missing values go to the side where they score best, or apart.
template <class Counts>
class CutScan {
public:
    CutScan(std::uint32_t n_classes, double min_share) : counts_(n_classes), min_share_(min_share) {}

    double gain(std::span<const std::int64_t> sums, std::uint32_t width) {
        counts_.start(sums, width);
        missing_ = width - 1;
        n_missing_ = counts_.rows_at(missing_);
        best_ = {};
        if (counts_.n() < 2) return 0.0;
        search(std::max(1.0, min_share_ * double(counts_.n())));
        if (!best_.found && min_share_ > 0) search(1.0);
        return best_.found ? std::max(0.0, (best_.score - counts_.unsplit()) / double(counts_.n())) : 0.0;
    }

    std::uint32_t write_children(std::uint8_t* child_of) const {
        if (!best_.found) return 0;
        std::fill_n(child_of, kCodes, std::uint8_t{1});
        if (!best_.apart) std::fill_n(child_of, best_.code + 1, std::uint8_t{0});
        else std::fill_n(child_of, missing_, std::uint8_t{0});
        child_of[missing_] = best_.missing_left ? 0 : 1;
        return 2;
    }

private:
    struct Best {
        double score = -std::numeric_limits<double>::infinity();
        std::uint32_t code = 0;
        bool found = false, missing_left = false, apart = false;
    };

    void search(double least) {
        scan(least, false);
        if (n_missing_ == 0) return;
        scan(least, true);
        counts_.clear();
        counts_.to_left(missing_);
        if (admissible(counts_.n_left(), least)) offer({counts_.score(), 0, true, false, true});
    }
    void scan(double least, bool missing_left) {
        counts_.clear();
        if (missing_left) counts_.to_left(missing_);
        const std::int64_t all_known = counts_.n() - (missing_left ? 0 : n_missing_);
        counts_.scan(missing_, [&](std::uint32_t code, std::int64_t n_left, double score) {
            if (n_left != all_known && admissible(n_left, least)) offer({score, code, true, missing_left, false});
        });
    }
    bool admissible(std::int64_t n_left, double least) const noexcept {
        return double(n_left) >= least && double(counts_.n() - n_left) >= least;
    }
    void offer(const Best& other) {
        if (other.score > best_.score + (best_.found ? counts_.tie() : 0.0)) best_ = other;
    }

    Counts counts_;
    double min_share_;
    std::uint32_t missing_ = 0;
    std::int64_t n_missing_ = 0;
    Best best_;
};

// A histogram of a nominal column as rows: one for every code and class, or code, that occurs, weighing as much as its
// rows together. Of a quantity they have the mean score: what varies inside a code is the same for all splits.
template <class Case, class Score>
class SetSearch {
public:
    SetSearch(Score score, const SplitOptions& options, std::uint32_t n_classes)
        : splitter_(score, options), n_classes_(n_classes), totals_(n_classes) {
        column_.narrow.resize(kCodes);
        std::iota(column_.narrow.begin(), column_.narrow.end(), std::uint8_t{0});
        column_.nominal = true;
    }

    double gain(std::span<const std::int64_t> sums, std::uint32_t width) {
        read(sums, width);
        column_.n_values = width - 1;
        Bits bits(0, 0, 0);
        using Outcome = typename Splitter<Case, Score>::Outcome;
        found_ = splitter_.best(column_, Codes::of(column_), {members_, totals_}, 0.0, bits, split_) == Outcome::found;
        return found_ ? split_.gain : 0.0;
    }

    std::uint32_t write_children(std::uint8_t* child_of) const {
        if (!found_) return 0;
        std::fill_n(child_of, kCodes, std::uint8_t{0});
        for (std::size_t g = 0; g < split_.grouping.categories.size(); ++g)
            child_of[split_.grouping.categories[g]] = static_cast<std::uint8_t>(split_.grouping.branches[g]);
        return static_cast<std::uint32_t>(split_.n_branches());
    }

private:
    void read(std::span<const std::int64_t> sums, std::uint32_t width) {
        members_.clear();
        totals_.clear();
        if constexpr (Case::kQuantity) {
            std::int64_t n = 0, sum = 0;
            for (std::uint32_t k = 0; k < width; ++k) n += sums[k], sum += sums[width + k];
            totals_.center = n > 0 ? double(sum) / double(n) : 0.0;
            for (std::uint32_t k = 0; k < width; ++k)
                if (sums[k] > 0) add(k, Case::make(double(sums[width + k]) / double(sums[k]), double(sums[k])));
        } else {
            for (std::uint32_t c = 0; c < n_classes_; ++c)
                for (std::uint32_t k = 0; k < width; ++k)
                    if (const auto n = sums[c * width + k]; n > 0) add(k, Case::make(c, double(n)));
        }
    }
    void add(std::uint32_t code, Case of) {
        members_.push_back({code, of});
        totals_.add(of);
    }

    Splitter<Case, Score> splitter_;
    std::uint32_t n_classes_;
    Column column_;
    std::vector<Member<Case>> members_;
    typename Case::Sums totals_;
    Split split_;
    bool found_ = false;
};

template <class Counts, class Sets>
class LevelSearch {
public:
    LevelSearch(const LevelPlan& plan, CutScan<Counts> cuts, Sets sets) : plan_(plan), cuts_(std::move(cuts)), sets_(std::move(sets)) {}

    LevelGains run(std::size_t tree, std::span<const std::int64_t> sums, std::span<const std::uint8_t> nominal,
                   const Stop& stop) {
        StopPoller poll(stop);
        LevelGains found;
        for (auto r = plan_.requests_of[tree]; r < plan_.requests_of[tree + 1]; ++r) {
            const auto column = plan_.request_column[r];
            const std::uint32_t width = plan_.width[column];
            const std::size_t size = plan_.n_sums() * width;
            for (std::uint32_t slot = 0; slot < plan_.n_slots[tree]; ++slot, sums = sums.subspan(size)) {
                poll(size);
                if (nominal[column])
                    add(sets_, plan_.request_shadow[r] == 0, sums.first(size), width, found);
                else
                    add(cuts_, plan_.request_shadow[r] == 0, sums.first(size), width, found);
            }
        }
        return found;
    }

private:
    template <class Search>
    void add(Search& search, bool own, std::span<const std::int64_t> sums, std::uint32_t width, LevelGains& found) {
        found.gains.push_back(search.gain(sums, width));
        if (!own) return;
        found.child_of.resize(found.child_of.size() + kCodes);
        std::uint8_t* const child_of = found.child_of.data() + found.n_children.size() * kCodes;
        const std::uint32_t n_children = search.write_children(child_of);
        found.n_children.push_back(n_children);
        const std::size_t begin = found.child_rows.size();
        found.child_rows.resize(begin + n_children);
        if (n_children == 0) return;
        const std::size_t n_counts = plan_.scores.empty() ? plan_.n_codes : 1;  // of a quantity rows come first
        for (std::size_t k = 0; k < n_counts * width; ++k) found.child_rows[begin + child_of[k % width]] += sums[k];
    }

    const LevelPlan& plan_;
    CutScan<Counts> cuts_;
    Sets sets_;
};

}  // namespace

LevelGains search_level(const LevelPlan& plan, std::size_t tree, std::span<const std::int64_t> sums,
                        std::span<const std::uint8_t> nominal, const SplitOptions& options, const Stop& stop) {
    if (plan.scores.empty()) {
        using Sets = SetSearch<RealCase, EntropyScore<RealLog>>;
        return LevelSearch<ClassCounts, Sets>(plan, {plan.n_codes, options.min_share}, {{}, options, plan.n_codes})
            .run(tree, sums, nominal, stop);
    }
    using Sets = SetSearch<ValueCase<double>, VarianceScore>;
    return LevelSearch<ScoreSums, Sets>(plan, {plan.n_codes, options.min_share}, {{}, options, plan.n_codes})
        .run(tree, sums, nominal, stop);
}

}  // namespace foresift
