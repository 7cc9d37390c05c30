import Foundation

/// Returns the growth of processor time when an input doubles: about 2 for linear work, 4 for quadratic work.
///
/// Only the time of the calling thread counts, and the shortest of several runs, so other work on the machine has little
/// effect.
///
/// - Parameters:
///   - size: The size of the smaller input; the work for it should take some milliseconds.
///   - make: A function that makes an input of a size.
///   - run: The measured work, which must stay on the calling thread.
///
///     let ratio = growth(from: 100_000, of: { String(repeating: "&", count: $0) }) { text in
///       _ = text.replacingOccurrences(of: "&", with: "&amp;")
///     }
///     print(ratio < linearGrowth)
public func growth<Input>(from size: Int, of make: (Int) -> Input, in run: (Input) -> Void) -> Double {
  let (small, large) = (make(size), make(2 * size))
  var (first, second) = (Double.infinity, Double.infinity)
  // Other work shares the caches and the cores' frequency, so more runs are needed the busier the machine is.
  for _ in 0..<20 {
    first = min(first, processorTime { run(small) })
    second = min(second, processorTime { run(large) })
    if second / first < 2.5 { break }
  }
  // Measurements of very short times are noise.
  return second / max(first, 0.002)
}

/// The upper bound on `growth` for linear work.
public let linearGrowth = 3.0

private func processorTime(of body: () -> Void) -> Double {
  func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
  let start = now()
  body()
  return now() - start
}
