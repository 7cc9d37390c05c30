// swift-tools-version: 6.2
import PackageDescription

// The programs of the benchmarks, in a package of their own, so that neither a build of the server nor a package that
// uses the client libraries compiles them.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

extension Target.Dependency {
  static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
  static let asyncHTTPClient = product(name: "AsyncHTTPClient", package: "async-http-client")
  static let crypto = product(name: "Crypto", package: "swift-crypto")
  static let grdb = product(name: "GRDB", package: "GRDB.swift")
  static let logging = product(name: "Logging", package: "swift-log")
  static let nioCore = product(name: "NIOCore", package: "swift-nio")
  static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
  static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
  static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")

  /// Returns a library of Tidings.
  static func tidings(_ name: String) -> Self { product(name: name, package: "tidings") }
}

let package = Package(
  name: "tidings-tools",
  platforms: [.macOS(.v15)],
  dependencies: [
    // Without the name, the identity of the package would be that of the folder into which it was checked out. Without
    // traits, this package proves that the client libraries build alone.
    .package(name: "tidings", path: "..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .executableTarget(
      name: "BareClient", dependencies: [.argumentParser, .asyncHTTPClient, .grdb, .nioCore, .nioHTTP1, .nioPosix],
      path: "BareClient", swiftSettings: settings),
    .executableTarget(
      name: "BareSender", dependencies: [.argumentParser, .asyncHTTPClient, .crypto, .nioCore, .nioHTTP1, .nioSSL],
      path: "BareSender", swiftSettings: settings),
    .executableTarget(
      name: "BareServer", dependencies: [.nioCore, .nioHTTP1, .nioPosix], path: "BareServer", swiftSettings: settings),
    .executableTarget(
      name: "EmptyClient", dependencies: [.tidings("NewsClient")], path: "EmptyClient", swiftSettings: settings),
    .target(
      name: "Fleet",
      dependencies: [.tidings("BackgroundFetch"), .tidings("FetchSimulator"), .tidings("News"), .tidings("TestKit")],
      path: "Fleet",
      resources: [.embedInCode("Prices/bench-delivery.txt"), .embedInCode("Prices/bench-fleet.txt")],
      swiftSettings: settings),
    .executableTarget(
      name: "FleetCheck",
      dependencies: [
        "Fleet", .tidings("News"), .tidings("PostgresClient"), .tidings("TestKit"), .argumentParser, .asyncHTTPClient,
        .crypto, .logging, .nioCore, .nioHTTP1,
      ],
      path: "FleetCheck", swiftSettings: settings),
    .executableTarget(
      name: "FleetSimulation", dependencies: ["Fleet", .argumentParser], path: "FleetSimulation",
      swiftSettings: settings),
    .testTarget(
      name: "FleetTests", dependencies: ["Fleet", .tidings("FetchSimulator"), .tidings("News")], path: "FleetTests",
      swiftSettings: settings),
    .executableTarget(
      name: "LiveBench",
      dependencies: [
        .tidings("News"), .tidings("TestKit"), .argumentParser, .nioCore, .nioHTTP1, .nioPosix,
      ],
      path: "LiveBench", swiftSettings: settings),
    .executableTarget(
      name: "NewsGenerator", dependencies: [.tidings("TestKit"), .argumentParser], path: "NewsGenerator",
      swiftSettings: settings),
    .executableTarget(
      name: "PostgresBench", dependencies: [.tidings("PostgresClient"), .logging], path: "PostgresBench",
      swiftSettings: settings),
  ]
)
