#pragma once

#include <sys/stat.h>

#include <tuple>

namespace gpuop::net {

/// Tells a socket's file from any other that ever has its name. The inode alone does not: its number is soon used
/// again. The time is that of bind(2), which neither chmod nor rename changes.
using SocketId = std::tuple<dev_t, ino_t, time_t, long>;

inline SocketId SocketIdOf(const struct stat& st) {
  return {st.st_dev, st.st_ino, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
}

}  // namespace gpuop::net
