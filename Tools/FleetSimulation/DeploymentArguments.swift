import ArgumentParser
import Fleet

/// The arguments about caches and servers.
struct DeploymentArguments: ParsableArguments {
  @Option(help: ArgumentHelp("The number of nginx in front of the servers, each with a cache.", valueName: "count"))
  var proxies = 1
  @Option(help: ArgumentHelp("The number of servers.", valueName: "count")) var servers = 2
  @Option(
    help: ArgumentHelp("The seconds for which caches keep responses (TIDINGS_SHARED_MAX_AGE).", valueName: "seconds"))
  var sharedMaxAge = 1
  @Option(
    help: ArgumentHelp(
      "The lifetime of /v1/changes alone: the seconds of s-maxage, and of stale-while-revalidate.",
      valueName: "fresh+stale"))
  var changesLifetime: String?
  @Option(help: ArgumentHelp("The lifetime of /v1/items alone.", valueName: "fresh+stale")) var itemsLifetime: String?

  /// - Throws: `ValidationError`
  func network(edges: Int) throws -> Network {
    for (name, count) in [("proxies", proxies), ("servers", servers)] where !(1...10_000 ~= count) {
      throw ValidationError("--\(name) is a number from 1 to 10000.")
    }
    guard 1...3600 ~= sharedMaxAge else { throw ValidationError("--shared-max-age is a number from 1 to 3600.") }
    var network = Network()
    (network.edges, network.proxies, network.servers) = (edges, proxies, servers)
    network.changes = try Self.lifetime(changesLifetime, "--changes-lifetime") ?? .init(sharedMaxAge: sharedMaxAge)
    network.items = try Self.lifetime(itemsLifetime, "--items-lifetime") ?? .init(sharedMaxAge: sharedMaxAge)
    return network
  }

  private static func lifetime(_ text: String?, _ option: String) throws -> Network.Lifetime? {
    guard let text else { return nil }
    let parts = text.split(separator: "+", omittingEmptySubsequences: false).compactMap { Int($0) }
    guard parts.count == 2, 1...86_400 ~= parts[0], 0...86_400 ~= parts[1] else {
      throw ValidationError("\(option) has two numbers of seconds, 1 to 86400 and 0 to 86400, such as 5+5.")
    }
    return Network.Lifetime(fresh: parts[0], stale: parts[1])
  }
}
