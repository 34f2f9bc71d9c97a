// Generation by recomputing the window of the last T tokens.
#include "ropewalk/infer/generate.hpp"

#include <algorithm>

#include "ropewalk/core/dim.hpp"
#include "ropewalk/core/error.hpp"

namespace ropewalk {

std::vector<std::int32_t> generate(session_core& program, std::span<const std::int32_t> prompt,
                                   long count, token_sampler& sampler,
                                   const std::function<void(std::int32_t)>& each) {
  if (prompt.empty()) throw error("generate", "prompt", "0 tokens", "must hold at least 1");
  if (count < 0) throw error("generate", "count", std::to_string(count), "must not be negative");
  const auto window = static_cast<std::size_t>(program.value_of(dim("T")));
  std::vector<std::int32_t> all(prompt.begin(), prompt.end()), input(window);
  for (long k = 0; k < count; ++k) {
    // What stands after the last token cannot be seen from it: any valid token will do.
    const std::size_t used = std::min(window, all.size());
    std::copy(all.end() - static_cast<std::ptrdiff_t>(used), all.end(), input.begin());
    std::fill(input.begin() + static_cast<std::ptrdiff_t>(used), input.end(), 0);
    program.set("tokens", input);
    program.run();
    const tensor_view logits = program.get("logits");  // [1, T, V]
    const auto vocabulary = static_cast<std::size_t>(logits.extent(-1));
    all.push_back(sampler.next(logits.as<float>().subspan((used - 1) * vocabulary, vocabulary)));
    if (each) each(all.back());
  }
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(prompt.size()));
  return all;
}

}  // namespace ropewalk
