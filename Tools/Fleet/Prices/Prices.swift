public import Foundation

/// The processor time of operations and the sizes of responses, as `make bench` has measured them on a machine.
///
///     let prices = try Prices.recorded()
///     print(prices.seconds(of: .read, at: .server))
public struct Prices: Sendable, Hashable {
  /// The error if the output of a benchmark cannot be read.
  public struct ReadError: Error, Hashable, CustomStringConvertible {
    /// A sentence that names the file, and the line or the missing figure.
    public let description: String
  }

  /// The processor time of one operation in seconds, at each tier.
  private var costs: [Operation: [Tier: Double]] = [:]
  /// The statements that PostgreSQL executes for one operation.
  private var statements: [Operation: Double] = [:]
  /// The sizes of responses.
  public private(set) var sizes = Sizes()

  /// The prices that are part of the program. They were measured on one machine of two cores.
  ///
  /// - Throws: ``ReadError``
  public static func recorded() throws -> Prices {
    try Prices(
      fleet: String(decoding: PackageResources.bench_fleet_txt, as: UTF8.self),
      delivery: String(decoding: PackageResources.bench_delivery_txt, as: UTF8.self))
  }

  /// Reads the outputs of `scripts/bench-fleet` and `scripts/bench-delivery`.
  ///
  /// - Parameter folder: A folder with `bench-fleet.txt` and `bench-delivery.txt`, such as `.build/bench`.
  /// - Throws: ``ReadError``
  public init(folder: URL) throws {
    func text(_ name: String) throws -> String {
      do {
        return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      } catch {
        throw ReadError(description: "\(name) in the folder of prices cannot be read; `make bench` writes it")
      }
    }
    try self.init(fleet: text(Self.fleetFile), delivery: text(Self.deliveryFile))
  }

  /// Reads outputs.
  ///
  /// - Parameters:
  ///   - fleet: The output of `scripts/bench-fleet`.
  ///   - delivery: The output of `scripts/bench-delivery`.
  /// - Throws: ``ReadError``
  public init(fleet: String, delivery: String) throws {
    let fleet = try FleetBenchOutput(fleet, file: Self.fleetFile)
    let delivery = try DeliveryBenchOutput(delivery, file: Self.deliveryFile)
    for operation in Operation.allCases {
      switch operation {
      case .handshake: costs[operation] = [.edge: try fleet.cost("handshake").nginx]
      case .edgeHit: costs[operation] = [.edge: try fleet.cost("hit").nginx]
      case .edgeForward: costs[operation] = [.edge: try fleet.cost("forward").nginx]
      case .proxyHit: costs[operation] = [.proxy: try fleet.cost("hit").nginx]
      case .proxyForward: costs[operation] = [.proxy: try fleet.cost("forward").nginx]
      case .advance: costs[operation] = [.server: try fleet.cost("advance").server]
      case .upkeep:
        // The benchmark has two servers.
        let cost = try fleet.cost("upkeep")
        costs[operation] = [.server: cost.server, .database: cost.postgres / 2]
        statements[operation] = cost.statements / 2
      case .apns, .fcm, .webPush: costs[operation] = try delivery.costs(of: operation.rawValue)
      case .read, .query, .longPoll, .stream, .register, .renew, .report, .publication:
        let cost = try fleet.cost(operation.rawValue)
        costs[operation] = [.server: cost.server, .database: cost.postgres]
        statements[operation] = cost.statements
      }
    }
    sizes = try fleet.sizes()
  }

  private static let fleetFile = "bench-fleet.txt"
  private static let deliveryFile = "bench-delivery.txt"

  /// Returns the processor time of an operation at a tier in seconds.
  public func seconds(of operation: Operation, at tier: Tier) -> Double { costs[operation]?[tier] ?? 0 }

  /// Returns the number of statements that PostgreSQL executes for an operation. Those of pushes, which are for many devices
  /// each, are not known.
  public func statements(of operation: Operation) -> Double { statements[operation] ?? 0 }

  /// Replaces a price.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - tier: A tier.
  ///   - microseconds: The processor time of the operation at the tier, 0 or more.
  public mutating func set(_ operation: Operation, at tier: Tier, microseconds: Double) {
    costs[operation, default: [:]][tier] = microseconds / 1_000_000
  }
}
