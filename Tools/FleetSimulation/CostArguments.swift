import ArgumentParser
import Fleet
import Foundation

/// The arguments about prices and machines.
struct CostArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A folder with the outputs of the benchmarks, such as .build/bench after `make bench`; a recorded output by default.",
      valueName: "folder"))
  var prices: String?
  @Option(
    help: ArgumentHelp(
      "Another processor time of an operation in microseconds, such as server.read=20. Several times for several.",
      valueName: "tier.operation=us"))
  var price: [String] = []
  @Option(help: ArgumentHelp("The processors of a machine.", valueName: "count")) var cores = 4.0
  @Option(help: ArgumentHelp("The share of a machine that the busiest second may use.", valueName: "share"))
  var utilisation = 0.5

  func validate() throws {
    guard 1...1024 ~= cores else { throw ValidationError("--cores is a number from 1 to 1024.") }
    guard 0.01...1 ~= utilisation else { throw ValidationError("--utilisation is a number from 0.01 to 1.") }
  }

  /// - Throws: `ValidationError`
  func makePrices() throws -> Prices {
    do {
      var prices = try self.prices.map { try Prices(folder: URL(filePath: $0)) } ?? Prices.recorded()
      for text in price { try Self.set(text, &prices) }
      return prices
    } catch let error as Prices.ReadError {
      throw ValidationError(error.description)
    }
  }

  private static func set(_ text: String, _ prices: inout Prices) throws {
    let parts = text.split(separator: "=", maxSplits: 1)
    let names = parts.first?.split(separator: ".", maxSplits: 1) ?? []
    guard parts.count == 2, names.count == 2, let tier = Tier(rawValue: String(names[0])),
      let operation = Fleet.Operation(rawValue: String(names[1])), let price = Double(parts[1]), price >= 0,
      price.isFinite
    else {
      throw ValidationError(
        "--price has a tier, an operation of the output and microseconds, such as server.read=20, but this is '\(text)'."
      )
    }
    prices.set(operation, at: tier, microseconds: price)
  }
}
