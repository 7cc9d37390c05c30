/// The output of `scripts/bench-fleet`: a table of operations, and lines of sizes.
struct FleetBenchOutput {
  /// The processor time of an operation in seconds, and its statements.
  struct Cost {
    var nginx: Double
    var server: Double
    var postgres: Double
    var statements: Double
  }

  private let file: String
  private var costs: [Substring: Cost] = [:]
  private var figures: [Substring: Double] = [:]

  /// The first word of the line above the table.
  private static let heading = "operation"

  /// - Throws: ``Prices/ReadError``
  init(_ text: String, file: String) throws {
    self.file = file
    var isTable = false
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let fields = line.split(separator: " ")
      if fields.first == "size" {
        guard fields.count == 3, let value = Double(fields[2]), value > 0 else {
          throw Prices.ReadError(
            description: "\(file), line \(index + 1): a size has a name and a number of bytes above 0")
        }
        figures[fields[1]] = value
      } else if fields.first == Self.heading[...] {
        isTable = true
      } else if fields.isEmpty {
        isTable = false
      } else if isTable {
        let values = fields.dropFirst().compactMap { Double($0) }
        guard values.count == 4, fields.count == 5, values.allSatisfy({ $0 >= 0 && $0.isFinite }) else {
          throw Prices.ReadError(
            description: "\(file), line \(index + 1): an operation has a name and four numbers, 0 or more")
        }
        costs[fields[0]] = Cost(
          nginx: values[0] / 1e6, server: values[1] / 1e6, postgres: values[2] / 1e6, statements: values[3])
      }
    }
  }

  /// - Throws: ``Prices/ReadError`` if the operation is missing.
  func cost(_ name: String) throws -> Cost {
    guard let cost = costs[name[...]] else {
      throw Prices.ReadError(description: "\(file): the line of the operation '\(name)' is missing")
    }
    return cost
  }

  /// - Throws: ``Prices/ReadError`` if a size is missing.
  func sizes() throws -> Sizes {
    func size(_ name: String) throws -> Double {
      guard let size = figures[name[...]] else {
        throw Prices.ReadError(description: "\(file): the line of the size '\(name)' is missing")
      }
      return size
    }
    var sizes = Sizes()
    sizes.notModified = try size("not-modified")
    sizes.head = try size("head")
    sizes.compressedHead = try size("compressed-head")
    sizes.pageHead = try size("page-head")
    sizes.proxyHead = try size("proxy-head")
    sizes.list = try size("list")
    sizes.item = try size("item")
    sizes.compressed2k = try size("compressed-2k")
    sizes.compressed100k = try size("compressed-100k")
    sizes.event = try size("event")
    sizes.device = try size("device")
    sizes.report = try size("report")
    sizes.offer = try size("offer")
    return sizes
  }
}
