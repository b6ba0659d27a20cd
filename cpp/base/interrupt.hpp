// How a long call is ended early.
#pragma once

#include <stdexcept>

namespace foresift {

/// Thrown when the caller asked for the work to stop.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace foresift
