/// The edits that turn one list of words into another: the shortest ones, by the algorithm of E. W. Myers ("An O(ND)
/// difference algorithm and its variations", 1986).
///
/// The difference of the standard library has no bound: for two texts of 256 KiB it can take minutes.
struct WordEdits: Sequence {
  /// An edit, with the range of words that it concerns.
  enum Edit {
    /// The range in the new list.
    case keep(Range<Int>)
    /// The range in the old list.
    case remove(Range<Int>)
    /// The range in the new list.
    case add(Range<Int>)
  }

  private var edits: [Edit] = []

  /// - Parameter maximumDistance: The maximum number of removed and added words between the equal beginning and the equal
  ///   end. Beyond, all words there are replaced.
  init(_ old: [[UInt8]], _ new: [[UInt8]], maximumDistance: Int) {
    var numbers: [[UInt8]: Int] = [:]
    func number(_ word: [UInt8]) -> Int {
      if let number = numbers[word] { return number }
      numbers[word] = numbers.count
      return numbers.count - 1
    }
    let (one, other) = (old.map(number), new.map(number))
    let shorter = Swift.min(one.count, other.count)
    let head = zip(one, other).prefix { $0 == $1 }.count
    let tail = zip(one.reversed(), other.reversed()).prefix(shorter - head).prefix { $0 == $1 }.count
    let (from, to) = (head..<one.count - tail, head..<other.count - tail)
    let isSpace = numbers.reduce(into: [Bool](repeating: false, count: numbers.count)) { spaces, entry in
      spaces[entry.value] = entry.key.allSatisfy { $0 == 32 || 9...13 ~= $0 }
    }
    if head > 0 { edits.append(.keep(0..<head)) }
    let matches = Self.matches(one[from], other[to], maximumDistance) ?? []
    append(matches, from, to) { isSpace[other[$0]] }
    if tail > 0 { append(keep: to.upperBound..<other.count) }
  }

  func makeIterator() -> [Edit].Iterator { edits.makeIterator() }

  /// Appends the edits around matching words. Spaces between two changes are changed with them, so that a rewritten
  /// sentence is one change.
  private mutating func append(
    _ matches: [(old: Int, new: Int)], _ from: Range<Int>, _ to: Range<Int>, isSpace: (Int) -> Bool
  ) {
    var (oldStart, newStart) = (from.lowerBound, to.lowerBound)
    var rest = matches[...]
    while let first = rest.first {
      // The words of a run follow each other in both lists.
      let run = rest.enumerated().prefix { $1 == (first.old + $0, first.new + $0) }.map(\.element)
      rest = rest.dropFirst(run.count)
      if run.allSatisfy({ isSpace($0.new) }) { continue }
      append(remove: oldStart..<first.old, add: newStart..<first.new)
      (oldStart, newStart) = (first.old + run.count, first.new + run.count)
      append(keep: first.new..<newStart)
    }
    append(remove: oldStart..<from.upperBound, add: newStart..<to.upperBound)
  }

  private mutating func append(remove: Range<Int>, add: Range<Int>) {
    if !remove.isEmpty { edits.append(.remove(remove)) }
    if !add.isEmpty { edits.append(.add(add)) }
  }

  private mutating func append(keep range: Range<Int>) {
    if case .keep(let last)? = edits.last {
      edits[edits.count - 1] = .keep(last.lowerBound..<range.upperBound)
    } else {
      edits.append(.keep(range))
    }
  }

  /// Returns the positions of the words that remain; nil if the distance is larger than the maximum.
  private static func matches(
    _ old: ArraySlice<Int>, _ new: ArraySlice<Int>, _ maximumDistance: Int
  ) -> [(old: Int, new: Int)]? {
    let limit = Swift.min(maximumDistance, old.count + new.count)
    // The farthest position in `old` on each diagonal, before each step.
    var farthest = [Int](repeating: 0, count: 2 * limit + 3)
    var steps: [ArraySlice<Int>] = []
    let origin = limit + 1
    for distance in 0...limit {
      steps.append(farthest[(origin - distance - 1)...(origin + distance + 1)])
      for diagonal in stride(from: -distance, through: distance, by: 2) {
        let goesDown = goesDown(diagonal, distance) { farthest[origin + $0] }
        var x = goesDown ? farthest[origin + diagonal + 1] : farthest[origin + diagonal - 1] + 1
        while x < old.count, x - diagonal < new.count, old[old.startIndex + x] == new[new.startIndex + x - diagonal] {
          x += 1
        }
        farthest[origin + diagonal] = x
        if x >= old.count, x - diagonal >= new.count { return path(steps, origin, old, new) }
      }
    }
    return nil
  }

  /// Whether the farthest path of a diagonal comes from an addition; otherwise it comes from a removal.
  private static func goesDown(_ diagonal: Int, _ distance: Int, _ farthest: (Int) -> Int) -> Bool {
    diagonal == -distance || diagonal != distance && farthest(diagonal - 1) < farthest(diagonal + 1)
  }

  /// Follows the steps back from the end.
  private static func path(
    _ steps: [ArraySlice<Int>], _ origin: Int, _ old: ArraySlice<Int>, _ new: ArraySlice<Int>
  ) -> [(old: Int, new: Int)] {
    var matches: [(old: Int, new: Int)] = []
    var (x, y) = (old.count, new.count)
    for distance in stride(from: steps.count - 1, through: 0, by: -1) {
      let farthest = steps[distance]
      let diagonal = x - y
      let goesDown = goesDown(diagonal, distance) { farthest[origin + $0] }
      let previous = diagonal + (goesDown ? 1 : -1)
      let startX = distance == 0 ? 0 : farthest[origin + previous] + (goesDown ? 0 : 1)
      while x > startX, x > 0, y > 0 {
        (x, y) = (x - 1, y - 1)
        matches.append((old.startIndex + x, new.startIndex + y))
      }
      if distance > 0 { (x, y) = goesDown ? (x, y - 1) : (x - 1, y) }
    }
    return matches.reversed()
  }
}
