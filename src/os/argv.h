#pragma once

#include <string>
#include <vector>

namespace gpuop::os {

/// `words` as execve(2) takes them, with a null at the end. Valid as long as `words` stays as it is.
inline std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace gpuop::os
