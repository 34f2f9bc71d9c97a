// A short training run of the model of tiny_text.hpp, for the tests of the trainer.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ropewalk/session.hpp"
#include "ropewalk/train/trainer.hpp"
#include "train/tiny_text.hpp"

namespace testing {

using namespace ropewalk;

inline constexpr long batch = 3, window = 8;

// Words in an order that a small model can learn something of.
inline std::string tiny_words(std::uint64_t seed, long words) {
  const char* const list[] = {"ship ", "rope ", "mast ", "the ", "a ", "sails\n"};
  rng r(seed);
  std::string text;
  for (long k = 0; k < words; ++k) text += list[r.below(6)];
  return text;
}

inline std::vector<dim_binding> tiny_sizes(const text_dataset& data, long rows) {
  return {{tiny_text::B, rows},
          {tiny_text::T, data.window()},
          {tiny_text::V, data.tokens().vocab_size()}};
}

struct tiny_run {
  text_dataset data;
  std::shared_ptr<parameter_store> weights;
  session_core train, evaluate;

  explicit tiny_run(int threads = 1, const std::string& text = tiny_words(1, 120),
                    std::uint64_t seed = 5)
      : tiny_run(cpu(threads), text, seed) {}
  tiny_run(const device& on, const std::string& text, std::uint64_t seed)
      : data(text, tokenizer::characters(text), {.window = window, .validation = 0.2}),
        weights(std::make_shared<parameter_store>(seed)),
        train(session<tiny_text::train>(on, tiny_sizes(data, batch), {.parameters = weights})),
        evaluate(
            session<tiny_text::evaluate>(on, tiny_sizes(data, batch), {.parameters = weights})) {}

  trainer with(trainer_options o, double rate = 3e-3) {
    if (o.steps == 0) o.steps = 20;
    o.batch = batch;
    o.seed = 9;
    o.descriptor = -1;
    return trainer(train, evaluate, data, constant_rate(rate), o);
  }
  // Every element of every parameter and state, bit by bit.
  std::string bits() const {
    std::string all;
    for (const parameter_store::entry& e : weights->entries()) {
      const tensor_view t = weights->at(e.path);
      all.append(static_cast<const char*>(t.ref().data), t.elements() * dtype_size(t.type()));
    }
    return all;
  }
};

}  // namespace testing
