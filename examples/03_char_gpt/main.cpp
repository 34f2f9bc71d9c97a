// Trains a small GPT on a text, character by character, and lets it write. See ./demo.
//
// The model is gpt.hpp; what happens with it (data, sessions, training, samples) is in
// ../common/text_program.cpp. The defaults below are for the King James Bible on two cores.
#include "gpt.hpp"
#include "text_program.hpp"

int main(int argc, char** argv) {
  using namespace examples;
  const text_model model{.description = "gpt, C = " + std::to_string(gpt::C.n) +
                                        ", H = " + std::to_string(gpt::H.n) +
                                        ", layers = " + std::to_string(gpt::layers),
                         .train = open<gpt::train>,
                         .evaluate = open<gpt::evaluate>,
                         .generate = open<gpt::generate>};
  return text_main(argc, argv, model, {.steps = 5000, .batch = 8, .context = 128, .rate = 3e-3});
}
