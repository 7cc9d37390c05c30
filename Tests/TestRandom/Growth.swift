import Foundation

/// How processor time grows when an input is doubled: about 2 for work in proportion to its size, 4 where it grows with the
/// square.
///
/// Only the time of the calling thread counts, and of several runs the shortest, so that other work on the machine does not
/// matter.
///
/// - Parameters:
///   - size: That of the smaller input. The work for it is to take some milliseconds.
///   - make: Makes an input of a size.
///   - run: What is measured; it stays on the calling thread.
public func growth<Input>(from size: Int, of make: (Int) -> Input, in run: (Input) -> Void) -> Double {
  let (small, large) = (make(size), make(2 * size))
  var (first, second) = (Double.infinity, Double.infinity)
  for _ in 0..<3 {
    first = min(first, processorTime { run(small) })
    second = min(second, processorTime { run(large) })
    if second / first < 2.5 { break }
  }
  // What takes next to no time is measured as noise.
  return second / max(first, 0.002)
}

/// The most that `growth` may be for work in proportion to its input.
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
