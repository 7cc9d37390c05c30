public import News

/// The input of a simulation, or of a check against real processes: what a newsroom publishes on a day, and what each phone
/// does. The same options give the same plan.
///
///     let plan = try FleetPlan(PlanOptions(phones: 2000, seed: 7))
///     for phone in plan.phones { print(phone.topics, phone.actions.count) }
public struct FleetPlan: Sendable, Hashable {
  /// The options from which the plan was made.
  public let options: PlanOptions
  /// The length of the day in seconds: 86,400, divided by the compression.
  public let duration: Double
  /// The published items, in order of time. Items before the day have negative times.
  public let publications: [Publication]
  /// The number of publications, from the first on, that were published before the day begins.
  public let publishedBefore: Int
  /// The phones of the sample.
  public let phones: [Phone]

  /// Creates a plan of known phones and publications.
  ///
  /// - Parameters:
  ///   - publications: The publications, in order of time.
  ///   - phones: The phones.
  ///   - options: Its compression and its edges apply.
  package init(publications: [Publication], phones: [Phone], _ options: PlanOptions) {
    (self.publications, self.phones, self.options) = (publications, phones, options)
    duration = 86_400 / options.compression
    publishedBefore = publications.count { $0.time < 0 }
  }

  /// The topics of the newsroom, most popular first.
  public static let topics = ["city", "sport", "politics", "culture", "weather", "port", "science", "business"]
}

/// An item that the newsroom publishes.
public struct Publication: Sendable, Hashable {
  /// The time in seconds since the beginning of the day.
  public var time: Double
  /// The slugs of its topics, one or two.
  public var topics: [String]
  /// Whether it is breaking news.
  public var isBreaking: Bool
  /// The length of its text in bytes.
  public var textBytes: Int

  /// Creates a publication.
  package init(time: Double, topics: [String], isBreaking: Bool = false, textBytes: Int) {
    (self.time, self.topics, self.isBreaking, self.textBytes) = (time, topics, isBreaking, textBytes)
  }

  /// Whether it belongs to a scope.
  ///
  /// - Parameter scope: The slugs of topics; empty for the whole feed.
  public func belongs(to scope: [String]) -> Bool { scope.isEmpty || topics.contains { scope.contains($0) } }
}

/// A phone of the sample, which stands for ``weight`` phones with the same habits.
public struct Phone: Sendable, Hashable {
  /// The name of the persona in the catalogue of `FetchSimulator`.
  public var persona: String
  /// The identifier of its time zone.
  public var zone: String
  /// The slugs of the topics that it follows, sorted; empty for the whole feed.
  public var topics: [String]
  /// The number of the edge that it uses, from 0. Where ``weight`` is above 1, the phones that it stands for use all edges
  /// alike.
  public var edge: Int
  /// The service that delivers its pushes; nil if it has none.
  public var push: PushProvider?
  /// The number of phones that it stands for, 1 or more.
  public var weight: Double
  /// The number of publications that the server had when the phone asked it last before the day. Its token is that of its
  /// scope at that moment.
  public var known: Int
  /// Its actions, in order of time.
  public var actions: [Action]

  /// Creates a phone.
  package init(
    persona: String = "", zone: String = "GMT", topics: [String] = [], edge: Int = 0, push: PushProvider? = nil,
    weight: Double = 1, known: Int, actions: [Action]
  ) {
    (self.persona, self.zone, self.topics, self.edge) = (persona, zone, topics, edge)
    (self.push, self.weight, self.known, self.actions) = (push, weight, known, actions)
  }
}

/// An action of a phone. Each is one of the client's, see `Synchronization` and `DeviceRegistrar` of NewsClient.
public struct Action: Sendable, Hashable {
  /// The kinds of actions, with the requests that a phone sends. `token` is the one of the phone's last response; the
  /// response of each read replaces it. All reads accept gzip.
  public enum Kind: Sendable, Hashable {
    /// A scheduled wake: `GET /v1/changes?topics=a,b&limit=200&since=TOKEN` with `If-None-Match: "TOKEN"`; without topics for
    /// the whole feed. While the response has `more`, the same follows with its token.
    case wake
    /// An opening of the app: the request of ``wake``.
    case open
    /// A wake by a push, which carries the token that the phone's scope has once the given number of publications is
    /// published: the request of ``wake`` with `&at=` and that token. A phone whose token is as new sends no request.
    case push(publications: Int)
    /// The first start after an installation: `GET /v1/items?topics=a,b&limit=100` without a condition, whose `Sync-Token`
    /// is the phone's first token. A phone with a push service then sends `GET /v1/push`, `POST /v1/devices` and
    /// `PUT /v1/devices/ID/state`.
    case install
    /// The first start of a new version that begins with an empty store: the first request of ``install``. A phone with a
    /// push service then sends `PUT /v1/devices/ID` and `PUT /v1/devices/ID/state`.
    case update
    /// The weekly renewal of the registration: `PUT /v1/devices/ID` and `PUT /v1/devices/ID/state`.
    case renew
    /// The report that a push has asked for: `PUT /v1/devices/ID/state`.
    case report
    /// The app is visible for a number of seconds, and holds `GET /v1/changes?topics=a,b&limit=200&since=TOKEN&wait=50`
    /// meanwhile. Each response, a 304 included, is followed by the next such request. The request that is open at the end
    /// is cancelled.
    case longPoll(seconds: Double)
    /// The app is visible for a number of seconds, and holds `GET /v1/events?topics=a,b` with `Last-Event-ID: TOKEN`
    /// meanwhile. For each event it sends the request of ``push(publications:)`` with the event's token.
    case events(seconds: Double)
  }

  /// The time in seconds since the beginning of the day.
  public var time: Double
  /// The kind.
  public var kind: Kind

  /// Creates an action.
  public init(time: Double, kind: Kind) {
    (self.time, self.kind) = (time, kind)
  }
}
