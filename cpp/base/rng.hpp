// Random bits that are a pure function of (seed, tree, node, how many were drawn): no shared state, so any
// tree can be grown by any thread in any order with the same outcome.
#pragma once

#include <cstdint>

namespace foresift {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

/// The finaliser of SplitMix64: a bijection of 64 bits that scrambles well.
constexpr std::uint64_t mix64(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// A stream of random bits for one node of one tree.
class Bits {
public:
    constexpr Bits(std::uint64_t seed, std::uint64_t tree, std::uint64_t node) noexcept
        : key_(mix64(mix64(mix64(seed + kGolden) ^ (tree + kGolden)) ^ (node + kGolden))) {}

    constexpr std::uint64_t next() noexcept { return mix64(key_ + ++drawn_ * kGolden); }

    /// Uniform on 0..n-1; 0 < n < 2^32 (bias below n / 2^32).
    constexpr std::uint32_t below(std::uint32_t n) noexcept {
        return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
    }

    /// Uniform on [0, 1).
    constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t key_;
    std::uint64_t drawn_ = 0;
};

/// Node number of the stream that draws a tree's rows.
inline constexpr std::uint64_t kRowStream = 0xffffffffULL;

/// Node number of the stream that permutes the rows for a shadow.
inline constexpr std::uint64_t kShadowStream = 0xfffffffeULL;

/// Added to the number of a node: the stream that shuffles its classes, so that trees grow alike without.
inline constexpr std::uint64_t kShuffleStream = 1ULL << 32;

/// The same for the shuffle that splits of many categories are held against.
inline constexpr std::uint64_t kNominalStream = 2ULL << 32;

/// Puts the items in random order, all orders being equally likely.
template <class Items>
constexpr void shuffle(Items& items, Bits& bits) {
    for (auto left = static_cast<std::uint32_t>(items.size()); left > 1; --left) {
        const std::uint32_t other = bits.below(left);
        const auto last = items[left - 1];
        items[left - 1] = items[other];
        items[other] = last;
    }
}

}  // namespace foresift
