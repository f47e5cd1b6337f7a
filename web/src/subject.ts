/** Topics in a subject: a chosen topic is the subject, or its beginning. */

/** The topic of a subject, such as `Billing` or `Billing: My last invoice`. */
export function topicOf(subject: string, topics: readonly string[]): string | undefined {
  return (
    topics.find((topic) => subject === topic) ??
    topics.find((topic) => subject.startsWith(`${topic}: `))
  );
}

/** The subject after a topic was chosen, or chosen once more, which removes it. What the user typed stays. */
export function toggleTopic(subject: string, topic: string, topics: readonly string[]): string {
  const current = topicOf(subject, topics);
  const typed = current === undefined ? subject : subject.slice(`${current}: `.length);
  if (topic === current) return typed;
  return typed.trim() === '' ? topic : `${topic}: ${typed}`;
}
