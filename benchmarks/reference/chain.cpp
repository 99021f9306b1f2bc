// PAC-RMDP(h) on the five-state chain in plain C++: the yardstick for hreach's compiled runs.
//
// The same program as `hreach.simulate("chain", "pac-rmdp", {"h": 8})`: sizes known at run time only, counts with a
// uniform prior of weight one, value iteration to max |dV| <= .01 from the last value with an exact solve where
// sweeps would cost more, ties at random, one PCG64 stream for the chain and one for the ties. One thread.
// Usage: chain RUNS STEPS H LENGTH  -> prints "seconds mean-reward". Compiled with -DLENGTH=5 the sizes are constants that
// the compiler can unroll, which a library for problems of any size cannot have.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef unsigned __int128 u128;

struct Pcg64 {
    u128 state, increment;
    explicit Pcg64(uint64_t seed) {
        auto word = [&seed] {  // SplitMix64
            uint64_t z = (seed += 0x9E3779B97F4A7C15ull);
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
            return z ^ (z >> 31);
        };
        state = (u128)word() << 64 | word();
        increment = ((u128)word() << 64 | word()) | 1;
    }
    double uniform() {
        state = state * (((u128)0x2360ED051FC65DA4ull << 64) | 0x4385DF649FCCF645ull) + increment;
        uint64_t high = state >> 64, mixed = high ^ (uint64_t)state;
        unsigned turn = high >> 58;
        uint64_t bits = mixed >> turn | mixed << ((64 - turn) & 63);
        return (bits >> 11) * (1.0 / 9007199254740992.0);
    }
};

struct Agent {
    const size_t S, A;
    const double gamma, tolerance, h;
    const std::vector<double>& reward;
    std::vector<double> counts, total, mean, reach, value, q, target, matrix;

    Agent(size_t S, size_t A, double gamma, double tolerance, double h, const std::vector<double>& reward)
        : S(S), A(A), gamma(gamma), tolerance(tolerance), h(h), reward(reward), counts(S * A * S), total(S * A),
          mean(S * A * S), reach(S * A), value(S), q(S * A), target(S), matrix(S * (S + 1)) {}

    void begin() {
        std::fill(counts.begin(), counts.end(), 1.0 / S);
        std::fill(total.begin(), total.end(), 1.0);
        std::fill(value.begin(), value.end(), 0.0);
        for (size_t pair = 0; pair < S * A; pair++) refresh(pair);
    }

    void refresh(size_t pair) {
        double w = h / (total[pair] + h), scale = (1 - w) / total[pair];
        for (size_t j = 0; j < S; j++) mean[pair * S + j] = scale * counts[pair * S + j];
        reach[pair] = w;
    }

    void learn(size_t pair, size_t next) {
        counts[pair * S + next] += 1;
        total[pair] += 1;
        refresh(pair);
    }

    double sweep() {
        double top = *std::max_element(value.begin(), value.end()), residual = 0;
        for (size_t s = 0; s < S; s++) {
            double best = -INFINITY;
            for (size_t a = 0; a < A; a++) {
                size_t pair = s * A + a;
                double expected = 0;
                for (size_t j = 0; j < S; j++) expected += mean[pair * S + j] * value[j];
                q[pair] = reward[pair] + gamma * (expected + reach[pair] * top);
                best = std::max(best, q[pair]);
            }
            residual = std::max(residual, std::fabs(best - value[s]));
            target[s] = best;
        }
        return residual;
    }

    void solve() {
        size_t top = std::max_element(value.begin(), value.end()) - value.begin(), W = S + 1;
        for (size_t s = 0; s < S; s++) {
            size_t pair = s * A;
            for (size_t a = 1; a < A; a++)
                if (q[s * A + a] > q[pair]) pair = s * A + a;
            for (size_t j = 0; j < S; j++) matrix[s * W + j] = -gamma * mean[pair * S + j];
            matrix[s * W + top] -= gamma * reach[pair];
            matrix[s * W + s] += 1;
            matrix[s * W + S] = reward[pair];
        }
        for (size_t i = 0; i < S; i++)
            for (size_t k = i + 1; k < S; k++) {
                double factor = matrix[k * W + i] / matrix[i * W + i];
                for (size_t j = i + 1; j <= S; j++) matrix[k * W + j] -= factor * matrix[i * W + j];
            }
        for (size_t i = S; i-- > 0;) {
            double rest = matrix[i * W + S];
            for (size_t j = i + 1; j < S; j++) rest -= matrix[i * W + j] * value[j];
            value[i] = rest / matrix[i * W + i];
        }
    }

    void plan() {
        size_t unpaid = 0;
        for (;;) {
            double residual = sweep();
            if (residual <= tolerance) {
                std::swap(value, target);
                return;
            }
            unpaid += 3 * A;
            if (unpaid >= S) {
                solve();
                unpaid = 0;
            } else {
                std::swap(value, target);
            }
        }
    }

    size_t act(size_t s, Pcg64& coins) {
        const double* row = &q[s * A];
        double best = *std::max_element(row, row + A), floor = best - 1e-9 * std::max(1.0, std::fabs(best));
        size_t ties = std::count_if(row, row + A, [floor](double x) { return x >= floor; });
        size_t skip = ties > 1 ? (size_t)(coins.uniform() * ties) : 0;
        for (size_t a = 0; a < A; a++)
            if (row[a] >= floor && skip-- == 0) return a;
        return 0;
    }
};

int main(int argc, char** argv) {
    if (argc != 5) return fprintf(stderr, "usage: chain RUNS STEPS H LENGTH\n"), 2;
    const size_t runs = atol(argv[1]), steps = atol(argv[2]);
#ifdef LENGTH
    const size_t S = LENGTH, A = 2;
#else
    const size_t S = atol(argv[4]), A = 2;
#endif
    std::vector<double> known(S * A, 0.0), paid(runs * steps);
    for (size_t s = 0; s < S; s++) known[s * A + 1] = .2;
    known[(S - 1) * A] = 1;
    auto begin = std::chrono::steady_clock::now();
    Agent agent(S, A, .95, .01, atof(argv[3]), known);
    double sum = 0;
    for (size_t run = 0; run < runs; run++) {
        Pcg64 chain(2 * run), coins(2 * run + 1);
        agent.begin();
        size_t s = 0;
        for (size_t t = 0; t < steps; t++) {
            agent.plan();
            size_t a = agent.act(s, coins);
            bool forward = (a == 0) != (chain.uniform() < .2);
            size_t next = forward ? std::min(s + 1, S - 1) : 0;
            double reward = forward ? (s == S - 1 ? 1.0 : 0.0) : .2;
            agent.learn(s * A + a, next);
            paid[run * steps + t] = reward;
            sum += reward;
            s = next;
        }
    }
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    printf("%.6f %.6f\n", seconds, sum / (runs * steps));
}
