/// Members in groups, such as the connections that wait for the same.
struct Membership<Key: Hashable & Sendable, Subject: Sendable, Member: Sendable>: Sendable {
  struct Group {
    /// What all its members have in common.
    var subject: Subject
    var members: [Int: Member] = [:]
  }

  /// Names a member.
  struct Ticket: Sendable {
    fileprivate let key: Key
    fileprivate let number: Int
  }

  private(set) var groups: [Key: Group] = [:]
  private(set) var count = 0
  private var numbers = 0

  /// Adds a member to a group, which begins with the subject if there is none yet.
  mutating func add(_ member: Member, to key: Key, subject: Subject) -> Ticket {
    numbers += 1
    count += 1
    groups[key, default: Group(subject: subject)].members[numbers] = member
    return Ticket(key: key, number: numbers)
  }

  /// Removes a member, unless its group has gone before it; a group goes with its last member.
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

  /// Gives all groups a new subject.
  mutating func setSubjects(_ subject: Subject) {
    for key in groups.keys { groups[key]?.subject = subject }
  }
}
