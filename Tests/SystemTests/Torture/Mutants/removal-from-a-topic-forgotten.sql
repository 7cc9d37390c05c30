-- An item that moves to other topics stays in those it was in.
SELECT mutate('publish(uuid[])',
  $$AND NOT (c.state = 'published' AND (l.scope = '' OR l.scope = ANY (c.topics)))$$, $$AND c.state <> 'published'$$);
