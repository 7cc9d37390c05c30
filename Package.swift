// swift-tools-version: 6.2
import PackageDescription

/// The settings of all targets: Swift 6 mode, explicit existentials, imports that are internal by default, and warnings
/// as errors.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

/// The settings of targets in which tests compute for long: they are optimised in debug builds too. Products for other
/// packages may not have them.
let optimised = settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

extension Target.Dependency {
  static let asyncHTTPClient = product(name: "AsyncHTTPClient", package: "async-http-client")
  static let crypto = product(name: "Crypto", package: "swift-crypto")
  static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
  static let dequeModule = product(name: "DequeModule", package: "swift-collections")
  static let hashTreeCollections = product(name: "HashTreeCollections", package: "swift-collections")
  static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
  static let grdb = product(name: "GRDB", package: "GRDB.swift")
  static let logging = product(name: "Logging", package: "swift-log")
  static let nioCore = product(name: "NIOCore", package: "swift-nio")
  static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
  static let nioHTTPCompression = product(name: "NIOHTTPCompression", package: "swift-nio-extras")
  static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
  static let nioHTTPTypesHTTP1 = product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
  static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
  static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")

  static let argumentParser = server("ArgumentParser", in: "swift-argument-parser")
  static let configuration = server("Configuration", in: "swift-configuration")
  static let coreMetrics = server("CoreMetrics", in: "swift-metrics")
  static let hummingbird = server("Hummingbird", in: "hummingbird")
  static let hummingbirdCore = server("HummingbirdCore", in: "hummingbird")
  static let jwtKit = server("JWTKit", in: "jwt-kit")
  static let mustache = server("Mustache", in: "swift-mustache")
  static let nioHTTP2 = server("NIOHTTP2", in: "swift-nio-http2")
  static let serviceLifecycle = server("ServiceLifecycle", in: "swift-service-lifecycle")
  static let systemPackage = server("SystemPackage", in: "swift-system")
  static let unixSignals = server("UnixSignals", in: "swift-service-lifecycle")
  static let yams = server("Yams", in: "Yams")

  /// Returns a dependency of the server, the commands or their tests, which packages that use only the client libraries
  /// do not resolve. A single reference without the trait would bring the package back.
  static func server(_ name: String, in package: String) -> Self {
    product(name: name, package: package, condition: .when(traits: ["Server"]))
  }
}

let package = Package(
  name: "tidings",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .executable(name: "tidings", targets: ["tidings"]),
    .executable(name: "tidings-fetch", targets: ["tidings-fetch"]),
    .library(name: "BackgroundFetch", targets: ["BackgroundFetch"]),
    .library(name: "FetchSimulator", targets: ["FetchSimulator"]),
    .library(name: "HTTPConditions", targets: ["HTTPConditions"]),
    .library(name: "HTTPTransfer", targets: ["HTTPTransfer"]),
    .library(name: "News", targets: ["News"]),
    .library(name: "NewsClient", targets: ["NewsClient"]),
    .library(name: "PostgresClient", targets: ["PostgresClient"]),
    .library(name: "TestKit", targets: ["TestKit"]),
  ],
  traits: [
    .trait(name: "Server", description: "The dependencies of the server and the commands."),
    .default(enabledTraits: ["Server"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: [
    // Dependencies point downwards only; `swift build --explicit-target-dependency-import-check error` enforces this.
    .executableTarget(
      name: "tidings",
      dependencies: [
        "HTTPEdge", "MediaFiles", "NetworkAddresses", "NewsAPI", "NewsConsole", "NewsDelivery", "NewsFeeds",
        "NewsFollower", "NewsPages", "NewsStore", "OutgoingHTTP", "PostgresClient", "News",
        .argumentParser, .configuration, .coreMetrics, .hummingbird, .logging, .nioCore, .serviceLifecycle,
        .systemPackage, .unixSignals,
      ],
      swiftSettings: settings),
    .target(
      name: "NewsConsole",
      dependencies: [
        "HTTPConditions", "HTTPEdge", "MediaFiles", "NetworkAddresses", "News", "NewsAPI", "NewsFollower", "NewsPages",
        "NewsStore", "OutgoingHTTP", .crypto, .httpTypes, .hummingbird, .nioCore, .serviceLifecycle,
      ],
      exclude: ["Assets", "Templates", "Texts"], swiftSettings: settings, plugins: ["EmbedPlugin"]),
    .target(
      name: "NewsAPI",
      dependencies: [
        "HTTPConditions", "HTTPEdge", "MediaFiles", "NetworkAddresses", "News", "NewsFeeds", "NewsPages", "NewsStore",
        "OutgoingHTTP", "SafeHTML", .coreMetrics, .crypto, .dequeModule, .httpTypes, .hummingbird, .hummingbirdCore,
        .logging, .nioCore, .nioHTTP1, .serviceLifecycle,
      ],
      exclude: ["Contract"], swiftSettings: settings, plugins: ["EmbedPlugin"]),
    .target(
      name: "HTTPEdge",
      dependencies: [
        "CZlib", "HTTPConditions", "NetworkAddresses", .coreMetrics, .dequeModule, .httpTypes, .hummingbird,
        .hummingbirdCore, .logging, .nioCore, .nioHTTP1, .nioHTTPTypesHTTP1,
      ],
      swiftSettings: optimised),
    .target(
      name: "NewsStore",
      dependencies: [
        "BackgroundWork", "News", "PostgresClient", .crypto, .dequeModule, .hashTreeCollections, .logging,
      ],
      exclude: ["Migrations"], swiftSettings: settings, plugins: ["EmbedPlugin"]),
    .target(
      name: "NewsFeeds",
      dependencies: ["CLibXML2", "News", "SafeHTML", .crypto],
      swiftSettings: optimised),
    .target(
      name: "NewsPages", dependencies: ["News", "SafeHTML", .crypto, .mustache],
      exclude: ["Assets", "Templates", "Texts"], swiftSettings: settings, plugins: ["EmbedPlugin"]),
    .target(
      name: "NewsFollower",
      dependencies: [
        "BackgroundWork", "HTTPConditions", "MediaFiles", "News", "NewsFeeds", "NewsStore", "OutgoingHTTP", "SafeHTML",
        .httpTypes, .logging,
      ],
      swiftSettings: settings),
    .target(
      name: "NewsDelivery",
      dependencies: [
        "BackgroundWork", "HTTPConditions", "NetworkAddresses", "News", "NewsStore", "OutgoingHTTP", .asyncHTTPClient,
        .coreMetrics, .crypto, .dequeModule, .httpTypes, .jwtKit, .logging, .nioCore, .nioHTTP1, .nioHTTP2, .nioPosix,
        .nioSSL,
      ],
      swiftSettings: settings),
    .target(
      name: "OutgoingHTTP",
      dependencies: [
        "CZlib", "HTTPConditions", "NetworkAddresses", .httpTypes, .nioCore, .nioHTTP1, .nioPosix, .nioSSL,
      ],
      swiftSettings: settings),
    .target(name: "NetworkAddresses", dependencies: [.nioCore], swiftSettings: settings),
    .target(name: "MediaFiles", dependencies: [.crypto], swiftSettings: settings),
    .target(name: "SafeHTML", dependencies: ["CLibXML2"], swiftSettings: optimised),
    .target(
      name: "BackgroundWork", dependencies: ["PostgresClient", .coreMetrics, .dequeModule], swiftSettings: settings),
    .target(
      name: "PostgresClient",
      dependencies: ["CLibPQ", .dequeModule, .logging],
      swiftSettings: settings),
    .target(name: "HTTPConditions", dependencies: [.httpTypes], swiftSettings: settings),
    .target(name: "News", swiftSettings: settings),
    // No client library may use it: Xcode asks its user whether a plugin can be trusted.
    .plugin(
      name: "EmbedPlugin", capability: .buildTool(), dependencies: ["embed"], path: "Sources/EmbedPlugin/Plugin"),
    .executableTarget(name: "embed", path: "Sources/EmbedPlugin/Program", swiftSettings: settings),

    .executableTarget(
      name: "tidings-fetch",
      dependencies: [
        "BackgroundFetch", "FetchSimulator", "HTTPTransfer", "News", "NewsClient", .argumentParser, .crypto,
        .unixSignals,
      ],
      resources: [.embedInCode("Units")],
      swiftSettings: settings),
    .executableTarget(
      name: "sample-app", dependencies: ["BackgroundFetch", "News", "NewsClient"], swiftSettings: settings),
    .target(
      name: "NewsClient",
      dependencies: ["BackgroundFetch", "HTTPConditions", "HTTPTransfer", "News", .crypto, .grdb],
      swiftSettings: settings),
    .target(
      name: "HTTPTransfer",
      dependencies: [
        "HTTPConditions", "NetworkAddresses", "ProcessCoordination", .asyncHTTPClient, .crypto, .grdb, .nioCore,
        .nioEmbedded, .nioHTTP1, .nioHTTPCompression, .nioPosix, .nioSSL,
      ],
      swiftSettings: settings),
    .target(name: "BackgroundFetch", dependencies: ["ProcessCoordination"], swiftSettings: settings),
    .target(name: "ProcessCoordination", swiftSettings: settings),
    .target(
      name: "FetchSimulator", dependencies: ["BackgroundFetch"],
      resources: [.embedInCode("Personas"), .embedInCode("Newsrooms"), .embedInCode("Policies")],
      swiftSettings: settings),

    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    .target(name: "TestKit", dependencies: ["BackgroundFetch"], path: "Tests/TestKit", swiftSettings: settings),
    .target(
      name: "TestSupport",
      dependencies: [
        "CZlib", "HTTPConditions", "HTTPEdge", "News", "NewsAPI", "NewsStore", "PostgresClient", "TestKit",
        .asyncHTTPClient,
        .crypto, .hummingbird, .logging, .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .serviceLifecycle, .yams,
      ],
      path: "Tests/TestSupport",
      swiftSettings: optimised),
    .testTarget(
      name: "PostgresClientTests", dependencies: ["PostgresClient", "TestSupport", "TestKit", .logging],
      swiftSettings: settings),
    .testTarget(name: "BackgroundWorkTests", dependencies: ["BackgroundWork", "TestKit"], swiftSettings: settings),
    .testTarget(
      name: "HTTPConditionsTests", dependencies: ["HTTPConditions", "TestKit", .httpTypes], swiftSettings: settings),
    .testTarget(
      name: "HTTPEdgeTests",
      dependencies: [
        "HTTPEdge", "NetworkAddresses", "TestKit", "TestSupport", .httpTypes, .logging, .nioCore, .nioEmbedded,
        .nioHTTP1,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "NewsFollowerTests",
      dependencies: [
        "BackgroundWork", "FaultServer", "NetworkAddresses", "News", "NewsFollower", "NewsStore", "OutgoingHTTP",
        "PostgresClient", "TestKit", "TestSupport", .httpTypes, .nioCore,
      ],
      swiftSettings: settings),
    .target(
      name: "PushMocks",
      dependencies: ["News", "TestKit", .crypto, .cryptoExtras, .nioCore, .nioHTTP1, .nioHTTP2, .nioPosix, .nioSSL],
      path: "Tests/PushMocks",
      swiftSettings: settings),
    .executableTarget(
      name: "push-mocks", dependencies: ["PushMocks", .argumentParser], path: "Tests/PushMocksServer",
      swiftSettings: settings),
    .executableTarget(
      name: "push-app", dependencies: ["BackgroundFetch", "HTTPTransfer", "News", "NewsClient"], path: "Tests/PushApp",
      swiftSettings: settings),
    .testTarget(
      name: "NewsDeliveryTests",
      dependencies: [
        "FaultServer", "NetworkAddresses", "News", "NewsDelivery", "NewsStore", "OutgoingHTTP", "PostgresClient",
        "PushMocks", "TestKit", "TestSupport", .crypto, .cryptoExtras, .httpTypes, .jwtKit, .logging, .nioCore,
        .nioEmbedded, .nioHTTP1, .nioPosix, .nioSSL,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "OutgoingHTTPTests",
      dependencies: [
        "FaultServer", "NetworkAddresses", "OutgoingHTTP", "TestKit", "TestSupport", .httpTypes, .nioCore, .nioPosix,
        .nioSSL,
      ],
      swiftSettings: settings),
    .testTarget(name: "NewsTests", dependencies: ["News", "TestKit"], swiftSettings: settings),
    .testTarget(
      name: "NewsStoreTests",
      dependencies: ["BackgroundWork", "News", "NewsStore", "PostgresClient", "TestKit", "TestSupport", .crypto],
      swiftSettings: settings),
    .testTarget(
      name: "NewsFeedsTests", dependencies: ["News", "NewsFeeds", "TestKit"], swiftSettings: settings),
    .testTarget(name: "NewsPagesTests", dependencies: ["News", "NewsPages", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "MediaFilesTests", dependencies: ["MediaFiles", "TestKit", .crypto], swiftSettings: settings),
    .testTarget(name: "SafeHTMLTests", dependencies: ["SafeHTML", "TestKit"], swiftSettings: settings),
    .testTarget(
      name: "NewsAPITests",
      dependencies: [
        "HTTPEdge", "MediaFiles", "NetworkAddresses", "News", "NewsAPI", "NewsFeeds", "NewsPages", "NewsStore",
        "OutgoingHTTP", "PostgresClient", "TestKit", "TestSupport", .coreMetrics, .crypto, .httpTypes, .hummingbird,
        .nioCore,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "NewsConsoleTests",
      dependencies: [
        "FaultServer", "HTTPEdge", "MediaFiles", "NetworkAddresses", "News", "NewsAPI", "NewsConsole", "NewsFollower",
        "NewsPages", "NewsStore", "OutgoingHTTP", "PostgresClient", "TestKit", "TestSupport", .asyncHTTPClient, .crypto,
        .httpTypes, .hummingbird, .logging,
        .nioCore,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BackgroundFetchTests", dependencies: ["BackgroundFetch", "TestKit"], swiftSettings: settings),
    .testTarget(
      name: "FetchSimulatorTests", dependencies: ["BackgroundFetch", "FetchSimulator"],
      swiftSettings: settings),
    .target(
      name: "FaultServer", dependencies: ["CZlib", "News", "TestKit", .nioCore, .nioPosix], path: "Tests/FaultServer",
      swiftSettings: settings),
    .testTarget(
      name: "FaultServerTests", dependencies: ["FaultServer", "News", "TestKit"],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPTransferTests",
      dependencies: ["FaultServer", "HTTPTransfer", "TestKit", .crypto, .grdb],
      swiftSettings: settings),
    .testTarget(
      name: "NewsClientTests",
      dependencies: [
        "BackgroundFetch", "FaultServer", "HTTPTransfer", "News", "NewsClient", "TestKit", .grdb,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TidingsFetchTests",
      dependencies: [
        "tidings", "tidings-fetch", "BackgroundFetch", "FaultServer", "HTTPTransfer", "MediaFiles", "News", "NewsAPI",
        "NewsClient", "NewsStore", "PostgresClient", "TestKit", "TestSupport", "sample-app",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SystemTests",
      dependencies: [
        "tidings", "tidings-fetch", "BackgroundFetch", "FaultServer", "HTTPConditions", "News", "NewsClient",
        "NewsStore",
        "PostgresClient", "PushMocks", "TestKit", "TestSupport", "push-app",
      ],
      exclude: ["Browser/driver", "Commands/newsroom-before-1.0.jsonl", "Feeds/atom.rnc", "Torture/Mutants"],
      swiftSettings: settings),
  ]
)
