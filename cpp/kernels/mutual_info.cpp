#include "kernels/mutual_info.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace foresift {
namespace {

constexpr std::size_t kMostLogs = 1 << 16;
constexpr std::size_t kSmallTable = 1 << 12;  // cells that cost next to nothing, however few rows there are
constexpr std::size_t kLanes = 4;  // tables side by side: equal cells of neighbouring rows need not wait for each other

// Whether a table of so many cells is worth going through for so many rows.
bool is_dense(std::uint64_t n_cells, std::size_t n_rows) {
    return n_cells <= std::max<std::uint64_t>(kSmallTable, 4 * std::uint64_t{n_rows});
}

// The sums of c log c over the joint counts and over their margins; cells come in the order of (x, given, target).
template <class Count>
class Sums {
public:
    Sums(const Cells& cells, const CountLogs& logs) : cells_(cells), logs_(logs), by_cell_(cells.n_codes()) {}

    void add(std::size_t x, std::size_t cell, Count count) {
        if (x != x_ || cells_.given(cell) != given_) {
            of_x_given_ += logs_(run_);
            run_ = 0;
            x_ = x;
            given_ = cells_.given(cell);
        }
        run_ += count;
        of_all_ += logs_(count);
        by_cell_[cell] += count;
    }

    Information result() {
        of_x_given_ += logs_(run_);
        double of_cell = 0, of_given = 0, of_target = 0;
        Count run = 0, total = 0;
        std::vector<Count> by_target(cells_.n_targets());
        for (std::size_t cell = 0; cell < by_cell_.size(); ++cell) {
            if (cell > 0 && cells_.given(cell) != cells_.given(cell - 1)) {
                of_given += logs_(run);
                run = 0;
            }
            run += by_cell_[cell];
            of_cell += logs_(by_cell_[cell]);
            by_target[cells_.target(cell)] += by_cell_[cell];
        }
        of_given += logs_(run);
        for (const Count count : by_target) {
            of_target += logs_(count);
            total += count;
        }
        if (!(total > 0)) return {};
        const double n = double(total), of_total = logs_(total);
        const auto share = [n](double sum) { return std::max(0.0, sum / n); };
        return {share((of_all_ - of_x_given_) - (of_cell - of_given)),
                share((of_all_ - of_x_given_) - (of_target - of_total)), share(of_total - of_all_)};
    }

private:
    const Cells& cells_;
    const CountLogs& logs_;
    std::vector<Count> by_cell_;
    std::size_t x_ = 0;
    std::uint32_t given_ = 0;
    Count run_ = 0;
    double of_all_ = 0, of_x_given_ = 0;
};

template <class Count, class Code>
Information from_table(const Code* x, std::size_t n_x, const Cells& cells, std::span<const double> weights,
                       const CountLogs& logs) {
    const auto codes = cells.codes();
    const std::size_t n = codes.size(), width = cells.n_codes() + 1, size = (n_x + 1) * width;
    const std::size_t n_lanes = size <= kSmallTable ? kLanes : 1, step = n_lanes > 1 ? size : 0;
    std::vector<Count> tables(n_lanes * size);
    const auto count = [&](std::size_t i, std::size_t lane) {
        Count& cell = tables[lane * step + x[i] * width + codes[i]];
        if constexpr (std::is_same_v<Count, double>)
            cell += weights[i];
        else
            ++cell;
    };
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) count(i + lane, lane);
    for (; i < n; ++i) count(i, 0);
    Sums<Count> sums(cells, logs);
    for (std::size_t code = 0; code < n_x; ++code)
        for (std::size_t cell = 0; cell + 1 < width; ++cell) {
            Count counted = 0;
            for (std::size_t lane = 0; lane < n_lanes; ++lane) counted += tables[lane * size + code * width + cell];
            if (counted > 0) sums.add(code, cell, counted);
        }
    return sums.result();
}

// The same by sorting the rows, where a table would be nearly empty.
template <class Count, class Code>
Information from_sorted(const Code* x, std::size_t n_x, const Cells& cells, std::span<const double> weights,
                        const CountLogs& logs) {
    const auto codes = cells.codes();
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;  // of (x, cell), and the row
    for (std::uint32_t i = 0; i < codes.size(); ++i)
        if (x[i] < n_x && codes[i] < cells.n_codes()) keys.emplace_back(x[i] * std::uint64_t{cells.n_codes()} + codes[i], i);
    std::sort(keys.begin(), keys.end());
    Sums<Count> sums(cells, logs);
    for (std::size_t i = 0; i < keys.size();) {
        const auto key = keys[i].first;
        Count counted = 0;
        for (; i < keys.size() && keys[i].first == key; ++i) {
            if constexpr (std::is_same_v<Count, double>)
                counted += weights[keys[i].second];
            else
                ++counted;
        }
        sums.add(key / cells.n_codes(), key % cells.n_codes(), counted);
    }
    return sums.result();
}

}  // namespace

Cells::Cells(const Coded& given, const Coded& target, bool known_only)
    : codes_(target.codes.size()), n_targets_(std::size_t{target.n_codes} + 1), known_only_(known_only) {
    const std::uint64_t n_pairs = (std::uint64_t{given.n_codes} + 1) * n_targets_;
    const auto code_of = [](const Coded& column, std::size_t i) {
        if (column.codes.empty()) return std::uint32_t{0};
        return column.codes[i] < 0 ? column.n_codes : static_cast<std::uint32_t>(column.codes[i]);
    };
    std::vector<std::uint64_t> pairs(codes_.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const std::uint32_t w = code_of(given, i), y = code_of(target, i);
        const bool missing = known_only && (w == given.n_codes || y == target.n_codes);
        pairs[i] = missing ? n_pairs : w * n_targets_ + y;
    }
    // Only pairs that occur get a code, so that tables stay small.
    std::vector<std::uint64_t> found;
    std::vector<std::uint32_t> place;
    const bool dense = is_dense(n_pairs, pairs.size());
    if (dense) {
        place.resize(n_pairs + 1);
        for (const auto pair : pairs) place[pair] = 1;
        for (std::uint64_t pair = 0; pair < n_pairs; ++pair)
            if (place[pair]) found.push_back(pair);
        for (std::uint32_t k = 0; k < found.size(); ++k) place[found[k]] = k;
    } else {
        found = pairs;
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        if (!found.empty() && found.back() == n_pairs) found.pop_back();
    }
    for (const auto pair : found) {
        given_.push_back(static_cast<std::uint32_t>(pair / n_targets_));
        target_.push_back(static_cast<std::uint32_t>(pair % n_targets_));
    }
    for (std::size_t i = 0; i < pairs.size(); ++i)
        codes_[i] = static_cast<std::uint32_t>(
            pairs[i] == n_pairs ? found.size()
            : dense             ? place[pairs[i]]
                                : std::ranges::lower_bound(found, pairs[i]) - found.begin());
}

CountLogs::CountLogs(std::size_t n_rows) : table_(std::min(n_rows + 1, kMostLogs)) {
    for (std::size_t c = 1; c < table_.size(); ++c) table_[c] = double(c) * std::log(double(c));
}
double CountLogs::operator()(std::uint32_t count) const noexcept {
    return count < table_.size() ? table_[count] : (*this)(double(count));
}
double CountLogs::operator()(double count) const noexcept { return count > 0 ? count * std::log(count) : 0.0; }

Information information(const Column& x, const Cells& cells, std::span<const double> weights, const CountLogs& logs) {
    const std::size_t n_x = std::size_t{x.n_values} + !cells.known_only();  // the last is missing, where it counts
    const bool dense = is_dense(std::uint64_t{n_x} * cells.n_codes(), cells.codes().size());
    return Codes::of(x).with([&](const auto* codes) {
        if (dense && weights.empty()) return from_table<std::uint32_t>(codes, n_x, cells, weights, logs);
        if (dense) return from_table<double>(codes, n_x, cells, weights, logs);
        if (weights.empty()) return from_sorted<std::uint32_t>(codes, n_x, cells, weights, logs);
        return from_sorted<double>(codes, n_x, cells, weights, logs);
    });
}

}  // namespace foresift
