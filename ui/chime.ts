/** Short sounds made in the browser: no file, no network. The thin end of the alerts. */
import type { AlertKind } from "./alerts.ts";

/** Frequencies in Hz, one after the other: a question rises, what is done resolves, an error falls. */
const NOTES: Record<AlertKind, readonly number[]> = {
  question: [659, 880, 1175],
  message: [784],
  done: [523, 659, 784],
  error: [415, 311],
};
const NOTE_SECONDS = 0.14;
const LOUDNESS = 0.12;

export interface Chime {
  /** Call it from a click or a key: browsers are silent before the person has touched the page. */
  unlock(): void;
  play(kind: AlertKind): void;
}

export function createChime(): Chime {
  let context: AudioContext | undefined;
  const opened = (): AudioContext => (context ??= new AudioContext());
  return {
    unlock() {
      void opened()
        .resume()
        .catch(() => undefined); // Without a sound device the other alerts still work.
    },
    play(kind) {
      const audio = opened();
      if (audio.state === "suspended") void audio.resume().catch(() => undefined);
      NOTES[kind].forEach((frequency, index) => playNote(audio, frequency, audio.currentTime + index * NOTE_SECONDS));
    },
  };
}

function playNote(audio: AudioContext, frequency: number, at: number): void {
  const tone = new OscillatorNode(audio, { type: "sine", frequency });
  const loudness = new GainNode(audio, { gain: 0 });
  // Without slopes a tone begins and ends with a click.
  loudness.gain.setValueAtTime(0, at);
  loudness.gain.linearRampToValueAtTime(LOUDNESS, at + 0.015);
  loudness.gain.exponentialRampToValueAtTime(0.001, at + NOTE_SECONDS * 1.6);
  tone.connect(loudness).connect(audio.destination);
  tone.start(at);
  tone.stop(at + NOTE_SECONDS * 1.7);
}
