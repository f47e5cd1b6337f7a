/** Topics in a subject: a chosen topic is the subject, or its beginning. */

/** The topic of a subject, such as `Billing` or `Billing: My last invoice`. */
export function topicOf(subject: string, topics: string[]): string | undefined {
  return (
    topics.find((topic) => subject === topic) ??
    topics.find((topic) => subject.startsWith(`${topic}: `))
  );
}

/** What the user typed into a subject, beside a topic. */
function withoutTopic(subject: string, topics: string[]): string {
  const topic = topicOf(subject, topics);
  return topic === undefined ? subject : subject.slice(`${topic}: `.length);
}

/** The subject after a topic was chosen, or chosen once more, which removes it. What the user typed stays. */
export function toggleTopic(subject: string, topic: string, topics: string[]): string {
  const typed = withoutTopic(subject, topics);
  if (topic === topicOf(subject, topics)) return typed;
  return typed.trim() === '' ? topic : `${topic}: ${typed}`;
}
