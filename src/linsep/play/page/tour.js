// The guided tour: each stop is a state of the page, two sentences, and something to try. A teacher links to one by
// #stop=its name.

const element = id => document.getElementById(id);

export const STOPS = {
  perceptron: {
    title: "The perceptron",
    words: "A line is w·x + b = 0: x is a point (x₁, x₂), w says where the line faces. The perceptron looks at one point after the other; where the line is wrong, it adds y·x to w (y is +1 for ●, −1 for ■), and the line turns.",
    attempt: "Step with →, or the button beside Play, and read the numbers of each update. Then drag a point across the line and watch it find another.",
    state: "preset=separable&method=perceptron",
  },
  bound: {
    title: "Mistakes are bounded",
    words: "Here the classes nearly touch, and many more updates are needed. But their number can never pass (R/γ)²: R is how far the points reach, γ how wide the gap is (Novikoff).",
    attempt: "Drag the two nearest points apart: the bound falls, and so do the mistakes.",
    state: "preset=margin&method=perceptron",
  },
  endless: {
    title: "Why it may never end",
    words: "No line separates these points, so the perceptron would go on for ever. The star is the proof: one point that lies between ● and between ■ at once.",
    attempt: "Erase the ringed points one by one: how many must go before a line exists?",
    state: "preset=overlap&method=perceptron",
  },
  loss: {
    title: "Counting mistakes is flat",
    words: "The wish is to make few mistakes. But the number of mistakes does not change when the line moves a little, so no slope says where to go.",
    attempt: "In Settings choose another loss, such as hinge or logistic, and see under the picture where each point lies on its curve: it has a slope.",
    state: "preset=overlap&method=gradient_descent&loss=zero_one",
  },
  descent: {
    title: "Gradient descent",
    words: "The mean logistic loss of all points is a valley. Each step walks downhill, as far as the step size η says, and every step takes all points together.",
    attempt: "Play it, and watch its path on the valley, under “The objective from above”. Then choose the share of mistakes as its height: that has no slope.",
    state: "preset=overlap&method=gradient_descent&loss=logistic&C=inf&surface=objective",
  },
  steps: {
    title: "Steps that are too long",
    words: "With η = 90 the steps jump across the valley, and the line swings to and fro. The page says so, with a step size to try.",
    attempt: "In Settings make η 1, then 0.0001: too short is as bad as too long. Below, under “How long should a step be?”, drag η on the lecture's own functions.",
    state: "preset=overlap&method=gradient_descent&loss=logistic&C=inf&schedule=constant&eta=90&stopping=none&max_iter=60&steps=bowl,0.5,0,0.05,constant",
  },
  best: {
    title: "The best so far",
    words: "Stochastic descent takes one random point for each step: cheap, but it wanders. So the best line met so far (dashed) is kept, and its risk never rises.",
    attempt: "Scrub through the film: the black line jumps about, the dashed one only gets better. Then choose falling step sizes.",
    state: "preset=overlap&method=sgd&loss=hinge&C=inf&schedule=constant&eta=0.5&max_iter=5",
  },
  outliers: {
    title: "Least squares and outliers",
    words: "Least squares wants g(x) to be exactly ±1, so points that are very right pull the line as well, until it is wrong about others. Logistic regression hardly sees them.",
    attempt: "Drag one of the far points further away, and watch all the lines: which of them move?",
    state: "preset=outlier&method=least_squares&compare=least_squares,logistic,hard_margin,soft_margin",
  },
  margin: {
    title: "The widest margin",
    words: "Many lines separate these points; the hard margin is the one that stays farthest from all of them. The ringed points on its edge hold it: the others could go.",
    attempt: "Move a point that is not ringed: nothing happens. Move a ringed one.",
    state: "preset=separable&method=hard_margin",
  },
  soft: {
    title: "A margin with exceptions",
    words: "Where no line separates, the soft margin lets points through for a price: C times how far each is inside. The proof says how near the optimum is.",
    attempt: "In Settings try C = 0.01 and C = 100: a wide margin with many exceptions, or a narrow one with few.",
    state: "preset=overlap&method=soft_margin",
  },
  logistic: {
    title: "Probabilities",
    words: "Logistic regression makes the classes seen as probable as it can: P(●) = 1/(1 + e^(−g)). On the line itself it is one half, on the dotted lines about 73 %.",
    attempt: "Point at a few points: how large is the loss of one far on its own side, and of one far on the wrong side?",
    state: "preset=overlap&method=logistic",
  },
  fewest: {
    title: "The fewest mistakes",
    words: "Counting mistakes has no slope, but all lines can be searched. Here no line at all makes fewer mistakes than this one, and that is proven.",
    attempt: "Step back: the curves of what was found and what is proven close in. Then turn a line by hand, under “You against the optimum”: can you match it?",
    state: "preset=overlap&method=zero_one",
  },
  features: {
    title: "A line that is not straight",
    words: "No line can do XOR. But in the features x₁, x₂, x₁², x₁x₂, x₂² a plane can, and seen in x₁ and x₂ it is a curve.",
    attempt: "Choose “the coordinates alone” under Features and see the proof that no line exists; then draw your own spiral.",
    state: "preset=xor&features=squares&method=perceptron",
  },
};
const NAMES = Object.keys(STOPS);

export class Tour {
  constructor(state, go) {
    Object.assign(this, { state, go });
    element("tour").addEventListener("click", () => go(NAMES[0]));
    element("stop-back").addEventListener("click", () => this.move(-1));
    element("stop-next").addEventListener("click", () => this.move(1));
    element("stop-leave").addEventListener("click", () => go(null));
  }

  move(by) {
    this.go(NAMES[NAMES.indexOf(this.state.stop) + by] ?? null);
  }

  show() {
    const stop = STOPS[this.state.stop], place = NAMES.indexOf(this.state.stop);
    element("stop").hidden = !stop;
    document.documentElement.classList.toggle("touring", Boolean(stop));
    element("intro").hidden = Boolean(stop);
    if (!stop) return;
    element("stop-title").textContent = `${place + 1}. ${stop.title}.`;
    element("stop-words").textContent = stop.words;
    element("stop-try").textContent = `Try: ${stop.attempt}`;
    if (stop.attempt.startsWith("In Settings")) element("settings-box").open = true;
    element("stop-place").textContent = `${place + 1} of ${NAMES.length}`;
    element("stop-back").disabled = place === 0;
    element("stop-next").textContent = place === NAMES.length - 1 ? "To the page" : "Next";
  }
}
