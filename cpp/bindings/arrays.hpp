// What the bindings of all kernels share: arrays in and out, names of choices, a flag that stops a call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "bindings/checks.hpp"
#include "split/splitter.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace foresift {

template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Strided = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T> using NewArray = nb::ndarray<nb::numpy, T>;

template <class T> using Writable = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T> std::span<const T> span_of(const Vector<T>& v) {
    check_aligned<T>(v.data());
    return {v.data(), v.size()};
}
template <class T> std::span<const T> span_of(const std::optional<Vector<T>>& v) {
    return v ? span_of(*v) : std::span<const T>();
}
template <class T> std::span<const T> values_of(const Rows<T>& rows) {
    check_aligned<T>(rows.data());
    return {rows.data(), rows.size()};
}

// Hands a vector to NumPy without a copy. `width` columns; 0: one-dimensional.
template <class T>
NewArray<T> to_numpy(std::vector<T>&& values, std::size_t width = 0) {
    values.shrink_to_fit();
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    const std::size_t shape[2] = {width ? owned->size() / width : owned->size(), width};
    return NewArray<T>(owned->data(), width ? 2 : 1, shape, owner);
}

// Records as raw bytes, one row each; the Python side views them with its structured dtype.
template <class Record>
NewArray<std::uint8_t> to_bytes(std::vector<Record>&& records) {
    records.shrink_to_fit();
    auto* owned = new std::vector<Record>(std::move(records));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Record>*>(p); });
    const std::size_t shape[2] = {owned->size(), sizeof(Record)};
    return NewArray<std::uint8_t>(reinterpret_cast<std::uint8_t*>(owned->data()), 2, shape, owner);
}

// The names that Python gives the values of an enum.
template <class Enum, std::size_t n> using Names = std::pair<const char*, Enum>[n];

inline constexpr Names<Criterion, 5> kCriteria = {{"entropy", Criterion::entropy},
                                                  {"gini", Criterion::gini},
                                                  {"gain_ratio", Criterion::gain_ratio},
                                                  {"ssv", Criterion::ssv},
                                                  {"variance", Criterion::variance}};
inline constexpr Names<Missing, 3> kMissingRules = {
    {"learn", Missing::learn}, {"fractional", Missing::fractional}, {"known", Missing::fractional}};

template <class Enum, std::size_t n>
Enum parse(const std::string& name, const Names<Enum, n>& names, const char* what) {
    for (const auto& [text, value] : names)
        if (name == text) return value;
    refuse("unknown " + std::string(what) + ": " + name);
}
template <class Enum, std::size_t n>
std::string name_of(Enum value, const Names<Enum, n>& names) {
    return std::ranges::find(names, value, [](const auto& pair) { return pair.second; })->first;
}

inline Criterion criterion_of(const std::string& name) { return parse(name, kCriteria, "criterion"); }
inline Missing missing_of(const std::string& name) { return parse(name, kMissingRules, "rule for missing values"); }

// Asked to stop by another thread, or by a signal such as Ctrl-C.
struct StopFlag {
    std::atomic<bool> requested{false};
};

inline Stop stop_check(const StopFlag* flag) {
    using Clock = std::chrono::steady_clock;
    return [flag, last = Clock::now()]() mutable {
        if (flag && flag->requested.load(std::memory_order_relaxed)) return true;
        if (Clock::now() - last < std::chrono::milliseconds(50)) return false;
        last = Clock::now();
        const nb::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return false;
    };
}

/// The constructor of a struct of options: Options(name=value, ...), all others at their defaults.
template <class Options>
void make_options(nb::pointer_and_handle<Options> self, const nb::kwargs& given) {
    new (self.p) Options();
    nb::inst_mark_ready(self.h);  // the fields are set as Python would set them
    for (auto [key, value] : given) {
        const std::string name = nb::cast<std::string>(key);
        if (!nb::hasattr(self.h, key)) throw nb::type_error(("unknown option: " + name).c_str());
        try {
            nb::setattr(self.h, key, value);
        } catch (const nb::python_error& error) {
            if (!error.matches(PyExc_TypeError)) throw;
            throw nb::type_error(("The option " + name + " has a value of the wrong type, or out of range.").c_str());
        }
    }
}

/// These add to the module: growing trees (grower.cpp), histograms (histograms.cpp), single columns (single_columns.cpp), networks (networks.cpp),
/// Relief (relief.cpp), mutual information (mutual_info.cpp), what reads node tables (node_tables.cpp).
void bind_grower(nb::module_& m);
void bind_histograms(nb::module_& m);
void bind_columns(nb::module_& m);
void bind_networks(nb::module_& m);
void bind_relief(nb::module_& m);
void bind_mutual_info(nb::module_& m);
void bind_node_tables(nb::module_& m);

}  // namespace foresift
