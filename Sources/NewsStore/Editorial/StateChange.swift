public import Foundation
public import News

/// The part of a write that concerns the state of an item: what it says, and what its author may do.
///
/// The rules are the same for all that write items. They judge times by the database's clock.
public struct StateChange: Sendable {
  /// The state that the write names: `draft`, `review`, `scheduled` or `published`; nil if it names none.
  public var state: EditorialItem.State?
  /// Whether an item keeps its state if the write names none, as in a patch. Otherwise the item is published if the
  /// author may do so, scheduled if its time is to come, and a draft if the author may not.
  public var keepsState: Bool
  /// Whether the write names a time of publication. A patch that names one in the future schedules a draft.
  public var namesPublication: Bool
  /// The rights of the author.
  public var access: ItemAccess

  /// Creates the statement of a write that names no state.
  public init(
    state: EditorialItem.State? = nil, keepsState: Bool = false, namesPublication: Bool = false,
    access: ItemAccess = .full
  ) {
    self.state = state
    self.keepsState = keepsState
    self.namesPublication = namesPublication
    self.access = access
  }

  /// The time by which a date may be ahead, in seconds, because clocks differ.
  private static let tolerance: TimeInterval = 60

  /// Returns the content that a write gives an item.
  ///
  /// - Parameters:
  ///   - content: The wanted content. Its state is ignored.
  ///   - existing: The item before the write; nil if it is created.
  ///   - now: The time by the database's clock.
  /// - Throws: `StoreError.topicsNotAllowed`, `publishingNotAllowed`; `invalidFields`, if the times contradict the state.
  public func applied(
    to content: ItemContent, replacing existing: EditorialItem?, at now: Date
  ) throws -> ItemContent {
    if let existing { try access.check(existing.item.topics) }
    try access.check(content.topics)
    try checkPermission(existing?.state)
    var content = content
    content.state = wantedState(content, existing, now)
    try checkPermission(content.state)
    var errors: [FieldError] = []
    func refuse(_ field: String, _ rule: FieldRule) { errors.append(FieldError(field: field, breaks: rule)) }
    let isNewTime = existing?.state != .scheduled || existing?.publishAt != content.publishAt
    switch (content.state, content.publishAt) {
    case (.scheduled, nil): refuse("publishAt", .scheduleWithTime)
    case (.scheduled, let time?) where time <= now && isNewTime:
      refuse("publishAt", .scheduleInFuture)
    case (.published, let time?) where time > now:
      refuse("publishAt", .publicationNotInFuture)
    default: break
    }
    if let end = content.expireAt {
      if let start = content.publishAt, end <= start {
        refuse("expireAt", .expiryAfterPublication)
      } else if content.state == .published, end <= now {
        if existing?.state.wasPublic ?? false {
          content.state = .expired
        } else {
          refuse("expireAt", .expiryInFuture)
        }
      }
    }
    if let date = content.date {
      let time = max(content.publishAt ?? now, now)
      if date > time + Self.tolerance {
        refuse("date", time > now ? .dateNotAfterPublication : .dateNotInFuture)
      }
    } else if let existing, existing.state.wasPublic {
      // Its moment of publication has passed.
      content.date = existing.item.date
    }
    guard errors.isEmpty else { throw StoreError.invalidFields(errors) }
    return content
  }

  /// Whether an existing item is the result of an earlier creation with this content.
  func hasCreated(_ existing: EditorialItem, with content: ItemContent, at now: Date) -> Bool {
    guard content.isEqual(toContentOf: existing) else { return false }
    // The schedule may have moved the item on.
    return switch (wantedState(content, nil, now), existing.state) {
    case (.scheduled, .published), (.scheduled, .expired), (.published, .expired): true
    case (let wanted, let state): wanted == state
    }
  }

  private func wantedState(_ content: ItemContent, _ existing: EditorialItem?, _ now: Date) -> EditorialItem.State {
    if let state { return state }
    let isAhead = content.publishAt.map { $0 > now } ?? false
    guard keepsState, let existing else { return access.mayPublish ? isAhead ? .scheduled : .published : .draft }
    switch existing.state {
    case .draft, .review, .scheduled:
      return namesPublication && isAhead && access.mayPublish ? .scheduled : existing.state
    // It is published again if it no longer expires.
    case .published, .expired, .retracted: return .published
    }
  }

  /// - Throws: `StoreError.publishingNotAllowed` for a state that readers see or will see.
  func checkPermission(_ state: EditorialItem.State?) throws {
    guard access.mayPublish || state == nil || state == .draft || state == .review else {
      throw StoreError.publishingNotAllowed
    }
  }
}

extension EditorialItem.State {
  /// Whether readers have seen an item in this state.
  fileprivate var wasPublic: Bool { self == .published || self == .expired }
}
