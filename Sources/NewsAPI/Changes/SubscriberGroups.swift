/// Subscribers in groups by key, such as the connections that wait for the same changes.
struct SubscriberGroups<Key: Hashable & Sendable, Subject: Sendable, Subscriber: Sendable>: Sendable {
  struct Group {
    /// The data that all members share.
    var subject: Subject
    var members: [Int: Subscriber] = [:]
  }

  /// Identifies a subscriber.
  struct Ticket: Sendable {
    fileprivate let key: Key
    fileprivate let number: Int
  }

  private(set) var groups: [Key: Group] = [:]
  private(set) var count = 0
  private var lastNumber = 0

  /// Adds a subscriber to a group. A new group begins with the subject.
  mutating func add(_ subscriber: Subscriber, to key: Key, subject: Subject) -> Ticket {
    lastNumber += 1
    count += 1
    groups[key, default: Group(subject: subject)].members[lastNumber] = subscriber
    return Ticket(key: key, number: lastNumber)
  }

  /// Removes a subscriber, unless its group has been removed. An empty group is removed as well.
  mutating func remove(_ ticket: Ticket) {
    guard groups[ticket.key]?.members.removeValue(forKey: ticket.number) != nil else { return }
    count -= 1
    if groups[ticket.key]?.members.isEmpty == true { groups[ticket.key] = nil }
  }

  /// Removes and returns a group; nil if there is none.
  mutating func take(_ key: Key) -> Group? {
    guard let group = groups.removeValue(forKey: key) else { return nil }
    count -= group.members.count
    return group
  }

  /// Replaces the subjects of all groups.
  mutating func setSubjects(_ subject: Subject) {
    for key in groups.keys { groups[key]?.subject = subject }
  }
}
