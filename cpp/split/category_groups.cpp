#include "split/category_groups.hpp"

#include <algorithm>
#include <numeric>

#include "split/criterion.hpp"
#include "split/splitter.hpp"

namespace foresift {
namespace {

// What the two terms of the gain ratio change by if two groups are merged.
struct Change {
    double purity, information;
};

class Merger {
public:
    Merger(std::span<const double> counts, std::size_t n_classes, double missing, double min_leaf)
        : n_classes_(n_classes), min_leaf_(min_leaf), of_category_(counts.size() / n_classes) {
        std::vector<double> all(n_classes, 0.0);
        for (std::size_t g = 0; g < of_category_.size(); ++g) {
            groups_.push_back(made(counts.subspan(g * n_classes, n_classes)));
            for (std::size_t c = 0; c < n_classes; ++c) all[c] += groups_[g].counts[c];
        }
        std::iota(of_category_.begin(), of_category_.end(), std::uint16_t{0});
        const Group whole = made(all);
        unsplit_ = whole.purity;
        information_of_all_ = xlog2x(whole.size + missing) - xlog2x(missing);
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            changes_.emplace_back(groups_.size());
            for (std::size_t j = 0; j < i; ++j) changes_[j][i] = change(j, i);
        }
    }

    std::vector<std::uint16_t> merged() {
        while (groups_.size() > 2 && merge_best()) {}
        return of_category_;
    }

private:
    struct Group {
        std::vector<double> counts;
        double size, purity;  // purity: less than 0 by n times the entropy
    };

    Group made(std::span<const double> counts) const {
        Group group{{counts.begin(), counts.end()}, 0.0, 0.0};
        for (const double x : counts) {
            group.size += x;
            group.purity += xlog2x(x);
        }
        group.purity -= xlog2x(group.size);
        return group;
    }
    Group joined(std::size_t i, std::size_t j) const {
        std::vector<double> counts = groups_[i].counts;
        for (std::size_t c = 0; c < n_classes_; ++c) counts[c] += groups_[j].counts[c];
        return made(counts);
    }
    Change change(std::size_t i, std::size_t j) const {
        const Group &a = groups_[i], &b = groups_[j], both = joined(i, j);
        return {both.purity - a.purity - b.purity, xlog2x(a.size) + xlog2x(b.size) - xlog2x(both.size)};
    }
    bool large(const Group& group) const noexcept { return group.size >= min_leaf_; }

    // Whether two groups were merged.
    bool merge_best() {
        double purity = -unsplit_, information = information_of_all_;
        std::size_t n_large = 0;
        for (const Group& group : groups_) {
            purity += group.purity;
            information -= xlog2x(group.size);
            n_large += large(group);
        }
        const auto ratio = [&](const Change& by) {
            const double below = information + by.information;
            return below > 0 ? std::max(0.0, purity + by.purity) / below : 0.0;
        };
        double best = n_large < 2 ? -1.0 : ratio({0, 0});
        std::size_t first = 0, second = 0;
        for (std::size_t i = 0; i < groups_.size(); ++i)
            for (std::size_t j = i + 1; j < groups_.size(); ++j) {
                if (n_large == 2 && large(groups_[i]) && large(groups_[j])) continue;
                const double here = ratio(changes_[i][j]);
                if (here <= best + kNear) continue;
                best = here;
                first = i, second = j;
            }
        if (second == 0) return false;
        merge(first, second);
        return true;
    }

    void merge(std::size_t first, std::size_t second) {
        groups_[first] = joined(first, second);
        groups_.erase(groups_.begin() + std::ptrdiff_t(second));
        changes_.erase(changes_.begin() + std::ptrdiff_t(second));
        for (auto& row : changes_) row.erase(row.begin() + std::ptrdiff_t(second));
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            if (i < first) changes_[i][first] = change(i, first);
            if (i > first) changes_[first][i] = change(first, i);
        }
        for (auto& group : of_category_) {
            if (group == second) group = static_cast<std::uint16_t>(first);
            if (group > second) --group;
        }
    }

    std::size_t n_classes_;
    double min_leaf_, unsplit_ = 0, information_of_all_ = 0;
    std::vector<std::uint16_t> of_category_;
    std::vector<Group> groups_;                 // by their first category
    std::vector<std::vector<Change>> changes_;  // [i][j] for i < j
};

}  // namespace

std::vector<std::uint16_t> group_categories(std::span<const double> counts, std::size_t n_classes, double missing,
                                            double min_leaf) {
    return Merger(counts, n_classes, missing, min_leaf).merged();
}

}  // namespace foresift
