export function topicOf(subject: string, topics: string[]): string | undefined {
  return (
    topics.find((topic) => subject === topic) ??
    topics.find((topic) => subject.startsWith(`${topic}: `))
  );
}

function withoutTopic(subject: string, topics: string[]): string {
  const topic = topicOf(subject, topics);
  return topic === undefined ? subject : subject.slice(`${topic}: `.length);
}

/** Removes a topic that is chosen again. Keeps typed text. */
export function toggleTopic(subject: string, topic: string, topics: string[]): string {
  const typed = withoutTopic(subject, topics);
  if (topic === topicOf(subject, topics)) return typed;
  return typed.trim() === '' ? topic : `${topic}: ${typed}`;
}
