import HTTPEdge
import Logging
import News
import NewsFeeds
import NewsPages

/// All settings of the server and its commands. A new setting is an entry here and its use.
///
/// The names, their documents and their order come from this table: `make settings` writes `docs/settings.md` and
/// `deploy/environment.example`. `Settings` has the value of each entry under the name of its property. A text is the heading
/// of the entries that follow.
package struct SettingTable: Sendable {
  static let shared = SettingTable()

  let database = "Database"
  let databaseURL = Setting(
    "DATABASE_URL", .text("a connection string"), default: "", inWords: "libpq's own",
    example: """
      postgresql://tidings@db1.example.net,db2.example.net/tidings?target_session_attrs=read-write&sslmode=verify-full\
      &sslrootcert=/etc/ssl/certs/ca-certificates.crt
      """,
    credential: "database-url",
    """
    Any [connection string of libpq](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING), several
    hosts and TLS included. With several hosts and `target_session_attrs=read-write`, libpq connects to the host that
    accepts writes. Do not put the password here: use `~/.pgpass` (mode 600) of the server's user, or put the whole string
    in a file.
    """)
  let databaseReadURL = Setting(
    "DATABASE_READ_URL", .text("a connection string"), default: "",
    example: """
      postgresql://tidings@db2.example.net,db1.example.net/tidings?target_session_attrs=prefer-standby&sslmode=verify-full
      """,
    credential: "database-read-url",
    """
    The connection string of one or more streaming standbys, which then serve reads that are not in memory. The server uses
    the primary if they lag or are unreachable.
    """)
  let poolSize = Setting(
    "TIDINGS_POOL_SIZE", .integer(2...1000, "connections"), default: 8,
    """
    The maximum number of database connections for the requests of a process; the same number applies to a standby. A
    quarter of them, and at least one, is reserved for editors. Two more connections follow publications, and one applies
    the schedule.
    """)
  let preparesStatements = Setting(
    "TIDINGS_PREPARED_STATEMENTS", .flag, default: true,
    """
    Whether statements are prepared. Set `false` behind a pooler in transaction mode, such as pgbouncer. There, `LISTEN` does
    not work, and a server polls once a second for changes that other servers publish. The server also sets no time limits
    there, so set them for the role: `ALTER ROLE tidings SET statement_timeout = '11s'; ALTER ROLE tidings SET
    idle_in_transaction_session_timeout = '60s'`.
    """)

  let listening = "Listening"
  let host = Setting(
    "TIDINGS_HOST", .text("an address"), default: "127.0.0.1", usedBy: [Serve.self, Doctor.self],
    """
    The address to listen on. Use the loopback address behind a proxy on the same machine, and `0.0.0.0` in a container. The
    option `--host` takes precedence.
    """)
  let port = Setting(
    "TIDINGS_PORT", .integer(0...65_535), default: 8080, usedBy: [Serve.self, Doctor.self, ConsoleCommand.self],
    """
    The port to listen on; 0 selects a free port. The value `tcp://…`, which Kubernetes sets for a service called `tidings`,
    is ignored. The option `--port` takes precedence.
    """)

  let responses = "Responses and memory"
  let sharedMaxAge = Setting(
    "TIDINGS_SHARED_MAX_AGE", .integer(1...3600, "seconds"), default: 1, usedBy: [Serve.self],
    "The lifetime of public responses in shared caches (`s-maxage`); `stale-while-revalidate` is 10 minus this value.")
  let staleLimit = Setting(
    "TIDINGS_STALE_LIMIT", .integer(0...86_400, "seconds"), default: 60, usedBy: [Serve.self],
    """
    The time for which the server responds from memory while the database does not respond, counted from its first failure.
    After that, responses are 503; with 0, at once.
    """)
  let cacheSize = Setting(
    "TIDINGS_CACHE_SIZE", .integer(0...65_536, "MiB"), default: 64, usedBy: [Serve.self],
    "The memory for responses and the JSON of items, cached until their content changes; 0 disables the cache.")
  let batchLimit = Setting(
    "TIDINGS_BATCH_LIMIT", .integer(1...256, "MiB"), default: 16, usedBy: [Serve.self],
    "The maximum size of the body of a batch. The items that it changes may have twice as many MiB, and at least 32.")

  let retention = "History and removals"
  let historyKeep = Setting(
    "TIDINGS_HISTORY_KEEP", .retention, default: nil, inWords: "all", example: "365d,50",
    usedBy: [Serve.self, Purge.self],
    """
    The revisions of each item that the history keeps: younger than a time (`365d`), the newest ones up to a number (`50`),
    or either (`365d,50`). The newest one is always kept. The others are removed within an hour.
    """)
  let purgeAfter = Setting(
    "TIDINGS_PURGE_AFTER", .integer(0...36_500, "days"), default: 90, usedBy: [Serve.self],
    "The age at which records of removals are purged; 0 for never. Clients offline for longer get the snapshot.")

  let publishing = "Pages, console and feeds"
  let publicURL = Setting(
    "TIDINGS_PUBLIC_URL", .link, default: nil, example: "https://news.example",
    usedBy: [Serve.self, ConsoleCommand.self, SubscriptionsCommand.self, Doctor.self],
    """
    The public URL of the server, with which the URLs of uploaded files and of [feeds](feeds.md) begin. Without it, the
    former are paths, and feeds are 404. Its host is the name of the reader pages. Hubs of followed feeds notify the server
    under it; without it, these feeds are only polled.
    """)
  let servesReaderPages = Setting(
    "TIDINGS_READER_PAGES", .flag, default: true, usedBy: [Serve.self],
    "Whether there are pages for readers at `/`, `/topics/…` and `/items/…`.")
  let servesConsole = Setting(
    "TIDINGS_CONSOLE", .flag, default: true, usedBy: [Serve.self, ConsoleCommand.self],
    "Whether there is a [console](console.md) for editors at `/console`.")
  let language = Setting(
    "TIDINGS_LANGUAGE", .choice, default: InterfaceLanguage.english, usedBy: [Serve.self],
    "The language of the texts of reader pages and of the console.")
  let feedTitle = Setting(
    "TIDINGS_FEED_TITLE", .line(maximumBytes: 200), default: "", inWords: "host of `TIDINGS_PUBLIC_URL`",
    example: "Harbour News", usedBy: [Serve.self], "The title of the feed of all items.")
  let feedContent = Setting(
    "TIDINGS_FEED_CONTENT", .choice, default: FeedSite.Content.full, usedBy: [Serve.self],
    "The content of the entries of feeds: `full`, or `summary` for the summary or the beginning of the text.")
  let feedItems = Setting(
    "TIDINGS_FEED_ITEMS", .integer(1...500, "items"), default: 50, usedBy: [Serve.self],
    "The number of items in a feed, by their latest changes. Up to 99 items that no archive has yet are added.")
  let hubURL = Setting(
    "TIDINGS_HUB_URL", .address, default: nil, example: "https://hub.example/", usedBy: [Serve.self],
    """
    The [WebSub](https://www.w3.org/TR/websub/) hub that is notified of changed feeds, and that feeds name for their
    subscribers. It needs `TIDINGS_PUBLIC_URL`.
    """)

  let following = "Followed feeds and webhooks"
  let feedPasswordKey = Setting(
    "TIDINGS_FEED_PASSWORD_KEY", .key, default: nil, credential: "feed-password-key",
    usedBy: [Serve.self, SubscriptionsCommand.self, Doctor.self],
    """
    The key with which the passwords of followed feeds are stored. Without it, feeds with a password cannot be followed. It is
    not part of the database, so keep a copy.
    """)
  let allowedNetworks = Setting(
    "TIDINGS_ALLOWED_NETWORKS", .networks, default: [], example: "10.0.0.0/8",
    usedBy: [Serve.self, SubscriptionsCommand.self, PushCommand.self],
    """
    The addresses and networks that requests for feeds, to webhooks and to services of Web Push may reach although they are
    not public, by http as well and on any port.
    """)
  let allowsPlainHTTP = Setting(
    "TIDINGS_ALLOW_PLAIN_HTTP", .flag, default: false,
    usedBy: [Serve.self, SubscriptionsCommand.self, PushCommand.self],
    "Whether feeds may be requested by http.")

  let pushes = "Pushes"
  let apnsKeyFile = Setting(
    "TIDINGS_APNS_KEY_FILE", .path, default: "", example: "/etc/tidings/apns.p8",
    usedBy: [Serve.self, PushCommand.self, Doctor.self],
    "The `.p8` file of the key for [pushes](push.md) through Apple's service. It needs the next two settings.")
  let apnsKeyID = Setting(
    "TIDINGS_APNS_KEY_ID", .text("10 capital letters and digits"), default: "", example: "ABC123DEFG",
    usedBy: [Serve.self, PushCommand.self, Doctor.self], "The id of this key.")
  let apnsTeamID = Setting(
    "TIDINGS_APNS_TEAM_ID", .text("10 capital letters and digits"), default: "", example: "DEF123GHIJ",
    usedBy: [Serve.self, PushCommand.self, Doctor.self], "The id of the team that the key belongs to.")
  let fcmCredentials = Setting(
    "TIDINGS_FCM_CREDENTIALS", .path, default: "", example: "/etc/tidings/firebase.json",
    usedBy: [Serve.self, PushCommand.self, Doctor.self],
    "The JSON file of a service account, for pushes through Firebase.")
  let vapidKeyFile = Setting(
    "TIDINGS_VAPID_KEY_FILE", .path, default: "", example: "/etc/tidings/vapid.pem",
    usedBy: [Serve.self, PushCommand.self, Doctor.self],
    """
    The P-256 key as PEM for Web Push, which `openssl ecparam -name prime256v1 -genkey -noout` prints. It needs
    `TIDINGS_VAPID_SUBJECT`.
    """)
  let vapidSubject = Setting(
    "TIDINGS_VAPID_SUBJECT", .text("a `mailto:` or `https:` URL"), default: "", example: "mailto:news@example.org",
    usedBy: [Serve.self, PushCommand.self, Doctor.self],
    """
    The address at which push services of Web Push reach the operator. Other forms, localhost and IP addresses are refused,
    because Apple refuses them.
    """)
  let pushOrigins = Setting(
    "TIDINGS_PUSH_ORIGINS", .list(of: "origins"), default: [], example: "https://push.example.org",
    usedBy: [Serve.self, PushCommand.self, Doctor.self],
    """
    The origins of Web Push besides those of Mozilla, Google, Apple and Microsoft, for UnifiedPush. A host that begins with
    `*.` stands for all names below it.
    """)
  let pushWindow = Setting(
    "TIDINGS_PUSH_WINDOW", .integer(0...3600, "seconds"), default: 60, usedBy: [Serve.self],
    "The time in which publications are collected into one push. Alerts do not wait.")
  let pushBudget = Setting(
    "TIDINGS_PUSH_BUDGET", .integer(1...60, "pushes"), default: 3, usedBy: [Serve.self],
    "The maximum number of silent pushes to a device within an hour. More are put off.")
  let pushReportRate = Setting(
    "TIDINGS_PUSH_REPORT_RATE", .share, default: 0.01, usedBy: [Serve.self],
    "The share of pushes whose effect the device reports.")
  let deviceLimit = Setting(
    "TIDINGS_DEVICE_LIMIT", .integer(0...100_000_000, "devices"), default: 10_000_000, usedBy: [Serve.self],
    "The maximum number of registered devices.")
  let registrationsPerAddress = Setting(
    "TIDINGS_DEVICE_RATE", .integer(0...1_000_000, "a minute"), default: 60, usedBy: [Serve.self, Doctor.self],
    """
    The maximum number of registrations from one address, a /64 for IPv6, at each server, and ten times as many from a /48;
    0 is no limit.
    """)

  let files = "Files"
  let mediaDirectory = Setting(
    "TIDINGS_MEDIA_DIRECTORY", .path, default: "", example: "/var/lib/tidings/media",
    usedBy: [Serve.self, MediaCommand.self, Purge.self, Doctor.self],
    "The folder for uploaded files, one for all servers of a database and for no others. Without it, uploads are 501.")
  let mediaLimit = Setting(
    "TIDINGS_MEDIA_LIMIT", .integer(1...1_048_576, "MiB"), default: 2048, usedBy: [Serve.self, Doctor.self],
    "The maximum size of a file.")
  let mediaUnusedAfter = Setting(
    "TIDINGS_MEDIA_UNUSED_AFTER", .integer(1...36_500, "days"), default: 7, usedBy: [Serve.self, Purge.self],
    "The time after which a file that no item uses is removed.")

  let proxies = "Proxies and limits"
  let trustedNetworks = Setting(
    "TIDINGS_TRUSTED_PROXIES", .networks, default: [], example: "127.0.0.1,::1", usedBy: [Serve.self, Doctor.self],
    """
    The proxies that report the client's address in a header. A network must not contain a gateway: the clients that are seen
    with its address could claim any other.
    """)
  let forwardedField = Setting(
    "TIDINGS_FORWARDED_FIELD", .choice, default: TrustedProxies.Field.xForwardedFor, usedBy: [Serve.self],
    "The header with the client's address; `forwarded` is the one of RFC 7239. The other one is ignored.")
  let requestsPerAddress = Setting(
    "TIDINGS_ADDRESS_RATE", .integer(0...1_000_000_000, "a minute"), default: 0, usedBy: [Serve.self, Doctor.self],
    "The maximum number of requests from one address, as a burst or spread out. A 304 counts as 0.1. 0 is no limit.")
  let requestsPerKey = Setting(
    "TIDINGS_KEY_RATE", .integer(0...1_000_000_000, "a minute"), default: 0, usedBy: [Serve.self],
    "The maximum number of requests with one key; 0 is no limit.")

  let logs = "Logs"
  let slowRequest = Setting(
    "TIDINGS_SLOW_REQUEST", .integer(0...3_600_000, "milliseconds"), default: 1000, usedBy: [Serve.self],
    "The time after which a request is logged as slow, with route, status, database time and client; 0 for never.")
  let logLevel = Setting("TIDINGS_LOG_LEVEL", .choice, default: Logger.Level.info, "The minimum level of log lines.")
  let logFormat = Setting(
    "TIDINGS_LOG_FORMAT", .choice, default: LogFormat.standard, inWords: "`text` on a terminal, `json` elsewhere",
    example: "json", "The format of log lines: `text`, or `json` for one object per line.")

  let development = "Development and tests"
  let migrations = Setting(
    "TIDINGS_MIGRATIONS", .path, default: "", usedBy: [Migrate.self],
    "The folder of the migrations to apply instead of the embedded ones. The executable still needs its own schema.")
  let openAPI = Setting(
    "TIDINGS_OPENAPI", .path, default: "", usedBy: [Serve.self, Doctor.self],
    "The file that is served as `/openapi.yaml`, instead of the one in the executable.")
  let apnsURL = Setting(
    "TIDINGS_APNS_URL", .link, default: nil, usedBy: [Serve.self, PushCommand.self, Doctor.self],
    "The service in place of Apple's; https, or http on the same machine.")
  let fcmURL = Setting(
    "TIDINGS_FCM_URL", .link, default: nil, usedBy: [Serve.self, PushCommand.self, Doctor.self],
    "The service in place of Google's; https, or http on the same machine.")
  let pushCAFile = Setting(
    "TIDINGS_PUSH_CA_FILE", .path, default: "", usedBy: [Serve.self, PushCommand.self, Doctor.self],
    "The PEM certificates that are trusted for the push services besides those of the system.")
  let allowsUnsafeDurability = Setting(
    "TIDINGS_ALLOW_UNSAFE_DURABILITY", .flag, default: false,
    """
    Whether a database with `fsync`, `full_page_writes` or `synchronous_commit` off is accepted, which may lose acknowledged
    writes.
    """)

  package init() {}
}

extension SettingTable {
  /// The settings by heading. The files that hold secrets follow their setting.
  static let sections = Mirror(reflecting: shared).children.reduce(
    into: [(heading: String, settings: [SettingEntry])]()
  ) { sections, child in
    if let heading = child.value as? String {
      sections.append((heading, []))
    } else if let setting = child.value as? any TypedSetting {
      sections[sections.count - 1].settings += [setting.entry, setting.entry.file].compactMap(\.self)
    }
  }

  static let entries = sections.flatMap(\.settings)

  /// The names in the environment and in settings files.
  package static let names = entries.map(\.name)
}
