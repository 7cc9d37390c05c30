extension [Double] {
  /// Returns the number of times until a time, that one included. The times are in order.
  func count(until time: Double) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] <= time { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the sums of equal parts, such as those of 24 hours.
  func sums(of parts: Int) -> [Double] {
    var sums = [Double](repeating: 0, count: parts)
    for (index, amount) in enumerated() { sums[index * parts / count] += amount }
    return sums
  }
}
