// LIBSVM text, "label index:value index:value …" a line, as the three arrays of a CSR matrix.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "parallel.hpp"

namespace linsep {

// What is wrong with a line; reference/libsvm.py has the same numbers, and data/libsvm.py the words.
enum class LibsvmFault : int { none, label, index, colon, value, order, range };

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
// One comparison settles the usual case: digits come after all of these, and a space is the first that is looked for.
inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
inline bool ends_token(const char *p, const char *end) { return p == end || *p == ' ' || *p == '\n' || is_blank(*p) || *p == '#'; }

// Digits are read eight at a time where eight bytes are there to be looked at, as one number of 64 bits.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr std::ptrdiff_t word = 8;
#else
constexpr std::ptrdiff_t word = std::numeric_limits<std::ptrdiff_t>::max();
#endif
constexpr std::uint64_t every_byte = 0x0101010101010101;

// How many of the eight characters are digits, up to the first that is not.
inline unsigned digits_ahead(std::uint64_t eight) {
    // Adding 0x46 sets the high bit of what is above '9', taking '0' away that of what is below it.
    const std::uint64_t others = ((eight + 0x46 * every_byte) | (eight - '0' * every_byte)) & 0x80 * every_byte;
    return others ? static_cast<unsigned>(__builtin_ctzll(others)) / 8 : 8;
}

// The number that the first 1 ≤ count ≤ 8 characters spell: they move to the end, behind zeros, and neighbours are
// then joined to pairs, pairs to fours, and these to the whole, each time all at once.
inline std::uint64_t spelled(std::uint64_t eight, unsigned count) {
    eight = (eight - '0' * every_byte) << (64 - 8 * count);
    eight = (eight * 10 + (eight >> 8)) & 0x00FF00FF00FF00FF;
    eight = (eight * 100 + (eight >> 16)) & 0x0000FFFF0000FFFF;
    return (eight * 10000 + (eight >> 32)) & 0xFFFFFFFF;
}

constexpr std::uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// Appends the digits at p to the number and moves p past them; returns how many there were, `most` or a few more at the most.
inline int read_digits(const char *&p, const char *end, std::uint64_t &number, int most) {
    const char *const first = p;
    while (end - p >= word && p - first < most) {
        std::uint64_t eight;
        std::memcpy(&eight, p, sizeof eight);
        const unsigned count = digits_ahead(eight);
        if (count == 0) return static_cast<int>(p - first);
        number = number * tens[count] + spelled(eight, count);
        p += count;
        if (count < 8) return static_cast<int>(p - first);
    }
    for (; p != end && is_digit(*p) && p - first < most; ++p) number = 10 * number + static_cast<std::uint64_t>(*p - '0');
    return static_cast<int>(p - first);
}

// Reads the number at p that ends its token and moves p past it; false if there is none or it is not finite.
inline bool read_number(const char *&p, const char *end, double &value) {
    const char *q = p;
    const bool negative = q != end && *q == '-';
    if (q != end && (*q == '-' || *q == '+')) ++q;
    const char *const digits = q;
    std::uint64_t mantissa = 0;
    constexpr int most = 20;  // with more digits than 19 the mantissa overflows, and is not used
    int seen = 1, places = 0;
    if (end - q > 1 && is_digit(*q) && q[1] == '.')  // as in 0.25, the form of most values
        mantissa = static_cast<std::uint64_t>(*q++ - '0');
    else
        seen = read_digits(q, end, mantissa, most);
    if (q != end && *q == '.') {
        ++q;
        places = read_digits(q, end, mantissa, most);
        seen += places;
    }
    static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (seen > 0 && seen <= 19 && mantissa <= (std::uint64_t{1} << 53) && ends_token(q, end)) {
        // Both numbers are exact, so that one division rounds once (Clinger's fast path).
        value = static_cast<double>(mantissa) / powers[places];
        if (negative) value = -value;
        p = q;
        return true;
    }
    while (!ends_token(q, end)) ++q;
    if (q == digits || (*digits != '.' && !is_digit(*digits))) return false;
#if defined(__cpp_lib_to_chars)
    const auto found = std::from_chars(digits, q, value);
    const bool whole = found.ptr == q && (found.ec == std::errc{} || found.ec == std::errc::result_out_of_range);
    if (whole && found.ec != std::errc{}) value = std::strtod(std::string(digits, q).c_str(), nullptr);
#else
    const std::string token(digits, q);
    char *stop = nullptr;
    value = std::strtod(token.c_str(), &stop);
    const bool whole = stop == token.c_str() + token.size() && token.find_first_of("xX") == std::string::npos;
#endif
    if (!whole || !std::isfinite(value)) return false;
    if (negative) value = -value;
    p = q;
    return true;
}

// Where rows go: their labels, their entries, and at which entry each ends.
template <class T, class I>
struct LibsvmRows {
    double *labels;
    T *values;
    I *columns, *ends;
};

// One stretch of the text, whole lines: what is in it, and the most that could have been.
struct LibsvmBlock {
    std::size_t first, last;            // in the text
    std::size_t lines = 0, colons = 0;  // no more rows and entries than these
    std::size_t n = 0, stored = 0;
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
    LibsvmFault fault = LibsvmFault::none;
    std::size_t place = 0;  // of the fault, in the text

    void count(const char *text) {
        // Counters of one byte, emptied before they overflow: the compiler takes 16 or 32 characters at a time.
        for (std::size_t i = first; i < last;) {
            unsigned char newlines = 0, pairs = 0;
            for (const std::size_t stop = std::min(last, i + 224); i < stop; ++i)
                newlines += text[i] == '\n', pairs += text[i] == ':';
            lines += newlines, colons += pairs;
        }
        lines += last > first && text[last - 1] != '\n';
    }

    // Row ends count from `before`, the number of the block's first entry.
    template <class T, class I>
    void parse(const char *text, LibsvmRows<T, I> into, std::size_t before) {
        const char *p = text + first, *const end = text + last;
        while (p != end && fault == LibsvmFault::none) {
            parse_line(text, p, end, into, before);
            while (p != end && *p != '\n') ++p;  // a comment, or what follows a fault
            if (p != end) ++p;
        }
    }

  private:
    void blame(LibsvmFault what, const char *text, const char *p) { fault = what, place = static_cast<std::size_t>(p - text); }

    static void skip_blanks(const char *&p, const char *end) {
        while (p != end && is_blank(*p)) ++p;
    }

    template <class T, class I>
    void parse_line(const char *text, const char *&p, const char *end, LibsvmRows<T, I> into, std::size_t entries_before) {
        skip_blanks(p, end);
        if (p == end || *p == '\n' || *p == '#') return;
        double label;
        if (!read_number(p, end, label)) return blame(LibsvmFault::label, text, p);
        std::int64_t before = -1;
        std::size_t k = stored;
        for (skip_blanks(p, end); p != end && *p != '\n' && *p != '#'; skip_blanks(p, end)) {
            const char *const token = p;
            if (*p == 'q' && end - p > 4 && std::memcmp(p, "qid:", 4) == 0) {
                while (!ends_token(p, end)) ++p;
                continue;
            }
            std::uint64_t number = 0;
            const int digits = read_digits(p, end, number, 12);
            const auto index = static_cast<std::int64_t>(number);
            if (p == token) return blame(LibsvmFault::index, text, token);
            if (p == end || *p != ':' || digits > 12) return blame(LibsvmFault::colon, text, token);
            if (index >= std::numeric_limits<std::int32_t>::max()) return blame(LibsvmFault::range, text, token);
            if (index <= before) return blame(LibsvmFault::order, text, token);
            ++p;
            double value;
            if (!read_number(p, end, value)) return blame(LibsvmFault::value, text, token);
            if (before < 0) lowest = std::min(lowest, index);
            before = index;
            into.columns[k] = static_cast<I>(index);
            into.values[k] = static_cast<T>(value);
            ++k;
        }
        stored = k;
        highest = std::max(highest, before);
        into.labels[n] = label;
        into.ends[n] = static_cast<I>(entries_before + stored);
        ++n;
    }
};

// The text, first counted, so that it can then be parsed straight into arrays that have room for it.
class LibsvmText {
  public:
    std::size_t lines = 0, colons = 0;  // the room that is needed: no more rows and entries than these
    std::size_t n = 0, stored = 0;
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
    LibsvmFault fault = LibsvmFault::none;
    std::size_t place = 0;

    LibsvmText(const char *text, std::size_t size, std::size_t threads) : text_(text), threads_(threads) {
        constexpr std::size_t stretch = std::size_t{1} << 20;  // blocks that follow from the text, not from the threads
        for (std::size_t first = 0; first < size; first = blocks_.back().last) {
            const std::size_t next = std::min(size, first + stretch);
            const void *newline = next < size ? std::memchr(text + next, '\n', size - next) : nullptr;
            LibsvmBlock block;
            block.first = first;
            block.last = newline ? static_cast<std::size_t>(static_cast<const char *>(newline) - text) + 1 : size;
            blocks_.push_back(block);
        }
        parallel_for(blocks_.size(), threads, [&](std::size_t k) { blocks_[k].count(text); });
        for (const auto &block : blocks_) lines += block.lines, colons += block.colons;
    }

    // Labels, values and columns (as they are numbered in the text), and `start`, where each row begins and the last ends.
    template <class T, class I>
    void parse(double *labels, T *values, I *columns, I *start) {
        std::vector<std::size_t> row(blocks_.size() + 1, 0), entry(blocks_.size() + 1, 0);
        for (std::size_t k = 0; k < blocks_.size(); ++k)
            row[k + 1] = row[k] + blocks_[k].lines, entry[k + 1] = entry[k] + blocks_[k].colons;
        start[0] = 0;
        parallel_for(blocks_.size(), threads_, [&](std::size_t k) {
            const std::size_t i = row[k], j = entry[k];
            blocks_[k].parse(text_, LibsvmRows<T, I>{labels + i, values + j, columns + j, start + 1 + i}, j);
        });
        for (std::size_t k = 0; k < blocks_.size(); ++k) {
            const auto &block = blocks_[k];
            if (block.fault != LibsvmFault::none) {
                fault = block.fault, place = block.place;
                return;
            }
            close_up(labels + row[k], labels + n, block.n);
            close_up(values + entry[k], values + stored, block.stored);
            close_up(columns + entry[k], columns + stored, block.stored);
            close_up(start + 1 + row[k], start + 1 + n, block.n);
            if (const I gone = static_cast<I>(entry[k] - stored))
                for (std::size_t i = 0; i < block.n; ++i) start[1 + n + i] -= gone;
            n += block.n, stored += block.stored;
            lowest = std::min(lowest, block.lowest), highest = std::max(highest, block.highest);
        }
    }

  private:
    // Comments, empty lines and query numbers took room that they did not need: what follows them moves up.
    template <class V>
    static void close_up(const V *from, V *to, std::size_t count) {
        if (from != to) std::copy(from, from + count, to);
    }

    const char *text_;
    std::size_t threads_;
    std::vector<LibsvmBlock> blocks_;
};

}  // namespace linsep
