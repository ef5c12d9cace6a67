/* Long chains of SGLD with a running mean of squared gradients, on oscillators in one dimension.
   Reads a line a problem: seed, steps, alpha, epsilon, h, all (1: the mean gradient, 0: one batch drawn
   at every step), K, then K times k c a f p: the gradient is k(x - c) - a f sin(f x + p).
   Prints the means of x, x^2, cos x and tanh x, and their standard errors by 100 chains. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t s[4];

static uint64_t next(void) { /* xoshiro256** by Blackman and Vigna */
  uint64_t m = s[1] * 5, r = ((m << 7) | (m >> 57)) * 9, t = s[1] << 17;
  s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t;
  s[3] = (s[3] << 45) | (s[3] >> 19);
  return r;
}

static double uniform(void) { return ((next() >> 11) + 0.5) * 0x1p-53; }

static double normal(void) { /* Marsaglia's polar method */
  static double kept;
  static int have;
  double x, y, q;
  if (have) { have = 0; return kept; }
  do { x = 2 * uniform() - 1; y = 2 * uniform() - 1; q = x * x + y * y; } while (q >= 1);
  q = sqrt(-2 * log(q) / q);
  kept = y * q; have = 1;
  return x * q;
}

#define CHAINS 100
#define MOST 8

int main(void) {
  unsigned long long seed;
  long steps;
  double alpha, eps, h, b[MOST][5];
  int all, K;
  while (scanf("%llu %ld %lf %lf %lf %d %d", &seed, &steps, &alpha, &eps, &h, &all, &K) == 7) {
    double sum[4] = {0}, square[4] = {0};
    long length = steps / CHAINS, burn = length / 4;
    if (K > MOST) return 1;
    for (int i = 0; i < K; i++)
      for (int j = 0; j < 5; j++) if (scanf("%lf", &b[i][j]) != 1) return 1;
    for (int i = 0; i < 4; i++) s[i] = seed * 4 + i + 1;
    for (int i = 0; i < 100; i++) next();
    for (int c = 0; c < CHAINS; c++) {
      double x = normal(), v = 1, mean[4] = {0};
      for (long n = -burn; n < length; n++) {
        double g = 0;
        int from = all ? 0 : (int)(uniform() * K), to = all ? K : from + 1;
        for (int i = from; i < to; i++)
          g += b[i][0] * (x - b[i][1]) - b[i][2] * b[i][3] * sin(b[i][3] * x + b[i][4]);
        g /= to - from;
        v = alpha * v + (1 - alpha) * g * g;
        double G = 1 / (eps + sqrt(v));
        x += -h * G * g + sqrt(2 * h * G) * normal();
        if (n >= 0) {
          mean[0] += x; mean[1] += x * x; mean[2] += cos(x); mean[3] += tanh(x);
        }
      }
      for (int o = 0; o < 4; o++) {
        mean[o] /= length; sum[o] += mean[o]; square[o] += mean[o] * mean[o];
      }
    }
    for (int o = 0; o < 4; o++) {
      double m = sum[o] / CHAINS;
      printf("%.6g %.3g%s", m, sqrt((square[o] / CHAINS - m * m) / (CHAINS - 1)), o < 3 ? " " : "\n");
    }
    fflush(stdout);
  }
  return 0;
}
