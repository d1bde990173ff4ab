/** Models trained to think write `<think>…</think>` before their answer. */

export const thoughtStart = '<think>';
export const thoughtEnd = '</think>';

/** Access to a chat template, to find out how it handles thinking. */
export interface ThinkingTemplate {
  /** Whether its source contains the text. */
  readonly writes: (text: string) => boolean;
  /** Renders a conversation with this value of `enable_thinking`. */
  readonly render: (thinking: boolean) => string;
}

/** Whether the chat template itself has opened the reasoning, so that the output begins inside it. */
export function opensReasoning(renderedPrompt: string): boolean {
  return renderedPrompt.trimEnd().endsWith(thoughtStart);
}

/**
 * Whether an answer may begin with a thought: the template knows thoughts, and they were not switched off. Some
 * templates have no such switch, and some open a thought whatever it says. Their models always think.
 */
export function mayThink(thinking: boolean | undefined, template: ThinkingTemplate): boolean {
  if (!template.writes(thoughtStart) && !template.writes(thoughtEnd)) return false;
  if (thinking !== false) return true;
  try {
    const switchedOff = template.render(false);
    return opensReasoning(switchedOff) || switchedOff === template.render(true);
  } catch {
    return true;
  }
}
