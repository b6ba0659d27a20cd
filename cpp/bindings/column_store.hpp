// The column store as Python holds it.
#pragma once

#include <iterator>
#include <memory>

#include "base/columns.hpp"
#include "bindings/arrays.hpp"

namespace foresift {

struct ColumnStore {
    std::uint32_t n_rows, max_bins;
    // Whoever reads the columns without the GIL, a grower for one, holds them too: meanwhile none is added.
    std::shared_ptr<std::vector<Column>> columns = std::make_shared<std::vector<Column>>();

    ColumnStore(std::uint32_t rows, std::uint32_t bins) : n_rows(rows), max_bins(bins) {
        check_range<std::uint64_t>("n_rows", rows, 1, kMostRows);
        check_range<std::uint64_t>("max_bins", bins, 2, kMaxCodes);
    }

    const Column& at(std::size_t j) const {
        if (j >= columns->size())
            refuse("There is no such column: " + std::to_string(j) + " of " + std::to_string(columns->size()) + ".");
        return (*columns)[j];
    }

    template <class Real>
    void add_numeric(const Strided<Real>& block) {
        check_length("A column", block.shape(0), n_rows);
        check_aligned<Real>(block.data());
        check_room(block.shape(1));
        append(coded(block));
    }
    void add_nominal(const Vector<std::int32_t>& codes, std::uint32_t n_categories) {
        check_length("A column", codes.size(), n_rows);
        check_categories(span_of(codes), n_categories);
        check_room(1);
        std::vector<Column> added;
        added.push_back(code_nominal(span_of(codes), n_categories));
        append(std::move(added));
    }
    ColumnStore take(const std::vector<std::size_t>& some) const {
        ColumnStore taken(n_rows, max_bins);
        taken.check_room(some.size());
        for (const auto j : some) taken.columns->push_back(at(j));
        return taken;
    }
    ColumnStore take_rows(const Vector<std::uint32_t>& rows) const {
        check_below("rows", span_of(rows), n_rows);
        check_range<std::uint64_t>("The number of rows", rows.size(), 1, kMostRows);
        ColumnStore taken(static_cast<std::uint32_t>(rows.size()), max_bins);
        const auto held = columns;
        const nb::gil_scoped_release unlocked;
        for (const auto& column : *held) taken.columns->push_back(foresift::take_rows(column, span_of(rows)));
        return taken;
    }
    nb::object codes(std::size_t j) const {
        const Column& column = at(j);
        if (column.narrow.empty()) return nb::cast(to_numpy(std::vector(column.wide)));
        return nb::cast(to_numpy(std::vector(column.narrow)));
    }
    NewArray<double> values(std::size_t j) const {
        const Column& column = at(j);
        std::vector<double> values = column.doubles;
        values.insert(values.end(), column.floats.begin(), column.floats.end());
        return to_numpy(std::move(values));
    }

private:
    void check_room(std::size_t more) const {
        if (columns.use_count() > 1)
            refuse("A store that a grower uses cannot be added to: take() makes a copy that can.");
        if (more > kMostColumns - columns->size())
            refuse("A store holds at most " + std::to_string(kMostColumns) + " columns.");
    }
    // Looks again: the GIL may have been released since the check, and only here do the columns move.
    void append(std::vector<Column>&& added) {
        check_room(added.size());
        columns->insert(columns->end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
    }

    template <class Real>
    std::vector<Column> coded(const Strided<Real>& block) const {
        const nb::gil_scoped_release unlocked;
        // Some columns at a time are copied side by side: one row of a C-ordered block fills a cache line of each.
        constexpr std::size_t kTogether = 16;
        auto signalled = stop_check(nullptr);  // throws on Ctrl-C
        std::vector<Column> result;
        std::vector<Real> buffer(std::min(kTogether, block.shape(1)) * n_rows);
        const auto row_step = block.stride(0), column_step = block.stride(1);
        for (std::size_t first = 0; first < block.shape(1); first += kTogether) {
            const std::size_t width = std::min(kTogether, block.shape(1) - first);
            const Real* source = block.data() + static_cast<std::int64_t>(first) * column_step;
            if (row_step == 1) {
                for (std::size_t k = 0; k < width; ++k)
                    std::copy_n(source + static_cast<std::int64_t>(k) * column_step, n_rows, &buffer[k * n_rows]);
            } else {
                for (std::size_t i = 0; i < n_rows; ++i, source += row_step)
                    for (std::size_t k = 0; k < width; ++k)
                        buffer[k * n_rows + i] = source[static_cast<std::int64_t>(k) * column_step];
            }
            for (std::size_t k = 0; k < width; ++k) {
                const std::span<const Real> values(&buffer[k * n_rows], n_rows);
                check_finite_or_missing(values);
                result.push_back(code_numeric<Real>(values, max_bins));
                signalled();
            }
        }
        return result;
    }
};

}  // namespace foresift
