/** Vite: the text of a style sheet. */
declare module '*.css?inline' {
  const text: string;
  export default text;
}
