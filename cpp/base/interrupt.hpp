// How a long call is ended early.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>

namespace foresift {

/// What long work asks now and then; true: end it. Empty: nobody wants to.
using Stop = std::function<bool()>;

/// Thrown when the caller asked for the work to stop.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

inline void check_stop(const Stop& stop) {
    if (stop && stop()) throw Interrupted();
}

/// Asks only once in about half a million steps, a row looked at being one. The question must outlive the poller.
class StopPoller {
public:
    explicit StopPoller(const Stop& stop) noexcept : stop_(stop) {}
    void operator()(std::size_t steps) {
        constexpr std::size_t kEvery = 1 << 19;
        if ((steps_ += steps) < kEvery) return;
        steps_ = 0;
        check_stop(stop_);
    }

private:
    const Stop& stop_;
    std::size_t steps_ = 0;
};

}  // namespace foresift
