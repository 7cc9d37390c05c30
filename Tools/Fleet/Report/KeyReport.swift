import Foundation

/// The cost of one key of the caches as text.
///
///     print(KeyReport(KeyFlow(rate: 1000, network, network.changes), network, prices))
public struct KeyReport: CustomStringConvertible {
  private let flow: KeyFlow
  private let network: Network
  private let prices: Prices

  /// - Parameters:
  ///   - flow: The requests for the key.
  ///   - network: The caches and servers.
  ///   - prices: The prices of operations.
  public init(_ flow: KeyFlow, _ network: Network, _ prices: Prices) {
    (self.flow, self.network, self.prices) = (flow, network, prices)
  }

  /// The text: the requests in a second, and their processor time in milliseconds.
  public var description: String {
    let rows: [(Tier, Double)] = [(.edge, flow.rate), (.proxy, flow.proxy), (.server, flow.server)]
    let lines = rows.map { tier, requests in
      Figure.left(tier.rawValue, 8) + Figure.right(String(format: "%.3f", requests), 14)
        + Figure.right(String(format: "%.3f", flow.milliseconds(tier, prices)), 14)
    }
    let lifetime = network.changes
    return
      ([
        "One key of \(Figure.short(flow.rate)) requests a second, at \(network.edges) edges, fresh for \(lifetime.fresh) s "
          + "and stale for \(lifetime.stale) s", "",
        Figure.left("", 8) + Figure.right("requests/s", 14) + Figure.right("processor ms", 14),
      ] + lines).joined(separator: "\n")
  }
}
