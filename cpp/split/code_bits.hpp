// Rows of two classes in the order of their codes without sorting: one bit per code and class.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "split/node_rows.hpp"

namespace foresift {

class CodeBits {
public:
    /// Sets the bits of the rows: of codes[i], less `low`, and the class of members[i]. `high` is the largest code.
    template <class Case>
    void set(std::span<const std::uint16_t> codes, std::span<const Member<Case>> members, std::uint32_t low,
             std::uint32_t high) {
        n_words_ = (high - low) / 64 + std::size_t{1};
        if (bits_.size() < 2 * n_words_) bits_.resize(2 * n_words_);
        auto* const bits = bits_.data();
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const std::uint32_t place = codes[i] - low;
            bits[place / 64 * 2 + members[i].of.cls()] |= std::uint64_t{1} << (place % 64);
        }
    }

    /// Takes the bits out again, in the order of codes, and calls visit(code less `low`, number of codes so far, number
    /// of them with a row of the second class). Returns the number of codes: that of the rows if no two share a code.
    template <class Visit>
    std::uint32_t take(Visit visit) {
        std::uint32_t n = 0, n_second = 0;
        auto* bits = bits_.data();
        for (std::size_t w = 0, n_words = n_words_; w < n_words; ++w, bits += 2) {
            const auto second = std::exchange(bits[1], 0);
            for (auto left = std::exchange(bits[0], 0) | second; left != 0; left &= left - 1) {
                ++n;
                n_second += (second & left & (0 - left)) != 0;
                visit(static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(left)), n,
                      n_second);
            }
        }
        return n;
    }

private:
    std::size_t n_words_ = 0;
    std::vector<std::uint64_t> bits_;  // of 64 codes those of the first class, then those of the second; 0 between calls
};

}  // namespace foresift
