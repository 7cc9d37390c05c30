public import Foundation
import HTTPTypes
import News
import NewsFeeds
public import NewsStore
public import OutgoingHTTP

/// The feed that a subscription of an address would follow, and its first entries as the items that it would store.
public struct FeedPreview: Sendable {
  /// The address that the subscription would have: that after permanent redirects, or that of the feed that was found on a
  /// page.
  public var address: String
  /// The title of the feed.
  public var title: String?
  /// The language of the feed.
  public var language: String?
  /// The number of entries.
  public var count: Int
  /// The first entries, at most `FeedPreviewer.maximumItems`.
  public var items: [ItemContent]
}

/// The reason why there is no preview.
public struct FeedPreviewFailure: Error, Equatable {
  /// The reason in words, without full stop.
  public let reason: String
  /// The status of the response; nil if there was none.
  public let status: Int?
}

/// Reads feeds without storing anything.
///
///     let previewer = FeedPreviewer(client: client)
///     let preview = try await previewer.preview(of: url, assignment: .init(state: .draft), at: Date())
///     print(preview.title ?? "", preview.items.map(\.text))
public struct FeedPreviewer: Sendable {
  /// The maximum number of entries in a preview.
  public static let maximumItems = 5
  /// The maximum length of the reason of a failure, in characters.
  private static let maximumReasonLength = 1000

  private let client: OutgoingClient
  private let timeLimit: Duration

  /// Creates a previewer.
  ///
  /// - Parameters:
  ///   - client: The client, whose shutdown is the caller's.
  ///   - timeLimit: The timeout of a preview, with all of its requests.
  public init(client: OutgoingClient, timeLimit: Duration = .seconds(30)) {
    self.client = client
    self.timeLimit = timeLimit
  }

  /// Requests a feed, as the first poll of a subscription would.
  ///
  /// - Parameters:
  ///   - url: The address of the feed, or of a page that links to it.
  ///   - credentials: The user and the password for the feed; nil for none.
  ///   - assignment: The properties that the subscription would give to its items.
  ///   - now: The current time.
  /// - Throws: `FeedPreviewFailure`, `CancellationError`.
  public func preview(
    of url: OutgoingURL, credentials: FeedCredentials? = nil, assignment: ImportBatch.Assignment, at now: Date
  ) async throws -> FeedPreview {
    try await withThrowingTaskGroup(of: FeedPreview.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await self.read(url, credentials, assignment, now) }
      group.addTask { [timeLimit] in
        try await Task.sleep(for: timeLimit)
        throw Self.failure("the feed could not be read within \(timeLimit.components.seconds) seconds")
      }
      guard let preview = try await group.next() else { throw CancellationError() }
      return preview
    }
  }

  private func read(
    _ url: OutgoingURL, _ credentials: FeedCredentials?, _ assignment: ImportBatch.Assignment, _ now: Date
  ) async throws -> FeedPreview {
    do {
      let page = try await request(url, credentials)
      let (preview, problem) = try await read(page, at: page.movedTo ?? url, assignment, now)
      if let preview { return preview }
      let links = try await FeedReading.links(in: page)
      return try await discovered(links, problem, credentials, assignment, now)
    } catch let error as OutgoingError {
      throw Self.failure("\(error)")
    }
  }

  /// Follows the links of a page to its feed.
  ///
  /// - Parameter problem: The reason why the page is not a feed itself.
  private func discovered(
    _ links: [FeedDiscovery.Link], _ problem: String, _ credentials: FeedCredentials?,
    _ assignment: ImportBatch.Assignment, _ now: Date
  ) async throws -> FeedPreview {
    var firstProblem: String?
    for link in links.prefix(FeedPoll.maximumCandidates) {
      do {
        let url = try OutgoingURL(link.address)
        let response = try await request(url, credentials)
        let (preview, problem) = try await read(response, at: response.movedTo ?? url, assignment, now)
        if let preview { return preview }
        firstProblem = firstProblem ?? "\(url.text): \(problem)"
      } catch let error as OutgoingError {
        firstProblem = firstProblem ?? "\(link.address): \(error)"
      } catch let failure as FeedPreviewFailure {
        firstProblem = firstProblem ?? "\(link.address): \(failure.reason)"
      }
    }
    if let firstProblem {
      throw Self.failure("the address is that of a page whose feed cannot be read: \(firstProblem)", 200)
    }
    throw Self.failure("the response is neither a feed nor a page that links to one: \(problem)", 200)
  }

  private func request(_ url: OutgoingURL, _ credentials: FeedCredentials?) async throws -> OutgoingResponse {
    let fields = FeedPoll.requestFields(for: url, credentials)
    let response = try await client.send(OutgoingRequest(url: url, fields: fields), refresh: FeedPoll.refresh)
    guard response.status == 200 else {
      throw Self.failure("the server has answered with the status \(response.status)", response.status)
    }
    return response
  }

  /// Reads a response.
  ///
  /// - Returns: nil for a response that is not a feed, with the reason.
  /// - Throws: `FeedPreviewFailure` for a feed that is incomplete.
  private func read(
    _ response: OutgoingResponse, at address: OutgoingURL, _ assignment: ImportBatch.Assignment, _ now: Date
  ) async throws -> (preview: FeedPreview?, problem: String) {
    var batch = ImportBatch(now: now, assignment: assignment)
    var count = 0
    let reading = try await FeedReading.reading(response, at: now) { entry in
      count += 1
      if count <= Self.maximumItems { _ = batch.add(entry) }
      return true
    }
    guard let reading, reading.isFeed else { return (nil, reading?.problem ?? "it is empty") }
    if let problem = reading.problem { throw Self.failure("the response is not a complete feed: \(problem)", 200) }
    let preview = FeedPreview(
      address: address.text, title: reading.properties.title, language: reading.properties.language, count: count,
      items: batch.items.map(\.content))
    return (preview, "")
  }

  private static func failure(_ reason: String, _ status: Int? = nil) -> FeedPreviewFailure {
    FeedPreviewFailure(reason: String(reason.terminalSafe.prefix(maximumReasonLength)), status: status)
  }
}
