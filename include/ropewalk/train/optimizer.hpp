// Optimizers as part of a program: which rule, with which numbers. How a rule becomes graph nodes is
// in codegen/train/optimizers.cpp; a rule of one's own is a function like those.
#pragma once

namespace ropewalk {

struct update_context;  // graph/builder.hpp: what a rule builds with

// A rule: makes from parameter, gradient, learning rate and step number the new parameter.
struct optimizer {
  void (*build)(update_context&, const double* options) = nullptr;
  double options[8] = {};
};

void build_sgd(update_context&, const double* options);
void build_adam(update_context&, const double* options);

// p <- p - lr * d, with g' = g + weight_decay * p; momentum buffer b <- momentum * b + g' (the first
// step takes g'); d = b, or g' + momentum * b (nesterov), or g' without momentum.
struct sgd {
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  constexpr operator optimizer() const {
    return {&build_sgd, {momentum, nesterov ? 1.0 : 0.0, weight_decay}};
  }
};

// m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2,
// p <- p - lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps); weight_decay is L2, added to g.
struct adam {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  constexpr operator optimizer() const {
    return {&build_adam, {beta1, beta2, eps, weight_decay, 0, 0}};
  }
};

// Adam with decoupled decay: p <- p (1 - lr * weight_decay) first. The decay is for parameters of at
// least `decay_min_rank` axes (2: matrices and embeddings, not biases and norm weights; 0: all).
struct adamw {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;
  int decay_min_rank = 2;
  constexpr operator optimizer() const {
    return {&build_adam, {beta1, beta2, eps, weight_decay, 1, static_cast<double>(decay_min_rank)}};
  }
};

// All that `minimize` was told.
struct training {
  optimizer rule;
  double max_norm = 0;     // 0: no clipping
  int accumulate = 1;      // runs per update
  const char* freeze[4] = {};
};

// All gradients times min(1, max_norm / (norm + 1e-6)), norm over all of them together.
struct clip_by_global_norm {
  double max_norm;
  constexpr explicit clip_by_global_norm(double n) : max_norm(n) {}
  constexpr void apply(training& t) const { t.max_norm = max_norm; }
};
// Gradients are averaged over n runs; the parameters move at every n-th.
struct accumulate {
  int n;
  constexpr explicit accumulate(int runs) : n(runs) {}
  constexpr void apply(training& t) const { t.accumulate = n; }
};
// Parameters whose path starts with the prefix stay as they are ("wte", "h.0").
struct freeze {
  const char* prefix;
  constexpr explicit freeze(const char* p) : prefix(p) {}
  constexpr void apply(training& t) const {
    for (const char*& f : t.freeze)
      if (f == nullptr) {
        f = prefix;
        return;
      }
  }
};

}  // namespace ropewalk
