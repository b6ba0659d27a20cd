// Mutual information of coded columns with a target, alone or together with another column, from tables of joint
// counts. Natural logarithm, plug-in frequencies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/columns.hpp"
#include "base/interrupt.hpp"

namespace foresift {

/// What the joint counts of a column X, a given column W and a target Y say; without W it counts as constant.
struct Information {
    double conditional = 0;  // I(X;Y|W)
    double joint = 0;        // I(X,W;Y)
    double entropy = 0;      // H(X,W,Y)
};

/// A column beside X: codes below n_codes, -1 for missing. No codes: constant.
struct Coded {
    std::span<const std::int32_t> codes;
    std::uint32_t n_codes = 1;
};

/// W and Y of every row as one code, in the order of (W, Y), and how to take it apart.
class Cells {
public:
    /// One code in each of `given` (or none at all) and `target` per row. known_only: rows where one of them is
    /// missing get the last code, which is not counted; otherwise missing is a value of its own.
    Cells(const Coded& given, const Coded& target, bool known_only);

    std::span<const std::uint32_t> codes() const noexcept { return codes_; }
    std::size_t n_codes() const noexcept { return given_.size(); }  // that are counted
    std::uint32_t given(std::size_t code) const noexcept { return given_[code]; }
    std::uint32_t target(std::size_t code) const noexcept { return target_[code]; }
    std::size_t n_targets() const noexcept { return n_targets_; }
    bool known_only() const noexcept { return known_only_; }

private:
    std::vector<std::uint32_t> codes_, given_, target_;
    std::size_t n_targets_;
    bool known_only_;
};

/// c log c of the whole numbers, most of them from a table.
class CountLogs {
public:
    explicit CountLogs(std::size_t n_rows);
    double operator()(double count) const noexcept;
    double operator()(std::uint32_t count) const noexcept;

private:
    std::vector<double> table_;
};

/// The information of column x; known_only of the cells leaves out the rows where x is missing. `weights`: one
/// finite weight > 0 per row, or none at all. Without a counted row everything is 0. Rounding may leave an
/// information a little off, but never below 0.
Information information(const Column& x, const Cells& cells, std::span<const double> weights, const CountLogs& logs);

}  // namespace foresift
